# ACCEPT (0.5, 0): the sum and the number of a private filter at once.
from bayesdp.programs import Bool, Database, Private, Real, clip, count, laplace, program, record


@record
class Person:
    height: Real[50, 250]
    ill: Bool


@program
def f(people: Database[Person]) -> Private[tuple[Real, Real]]:
    total, n = laplace((sum(clip(p.height, 140, 200) for p in people if p.ill), count(p for p in people if p.ill)), epsilon=0.5)
    return total / max(n, 1), n
