# ACCEPT (1, 0): a released quantile as the upper end of a clip: it lies among its candidates.
from bayesdp.programs import Database, Private, Real, clip, count, exponential, laplace, linspace, program


@program(epsilon=1)
def total(incomes: Database[Real[0, 100000]]) -> Private[tuple[Real, Real]]:
    top = exponential(
        score=lambda t: -abs(count(x for x in incomes if x <= t) - 0.95 * incomes.size),
        candidates=linspace(1000, 100000, 100),
        epsilon=0.5,
    )
    return top, laplace(sum(clip(x, 0, top) for x in incomes), epsilon=0.5)
