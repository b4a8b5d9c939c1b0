# ACCEPT (0.9, 0): three quantiles of one column in a static loop, 0.3 each.
from bayesdp.programs import Database, Private, Real, Vector, count, exponential, helper, linspace, program, record


@record
class Person:
    height: Real[50, 250]


@helper
def quantile(values, n, share, epsilon):
    """The candidate below which about `share` of the values lie."""
    target = share * n
    return exponential(
        score=lambda t: -abs(count(v for v in values if v <= t) - target),
        candidates=linspace(100, 220, 121),
        epsilon=epsilon,
    )


@program(epsilon=0.9)
def quartiles(people: Database[Person]) -> Private[Vector]:
    heights = (p.height for p in people)
    return tuple(quantile(heights, people.size, share, 0.3) for share in (1 / 4, 1 / 2, 3 / 4))
