# REJECT division: candidates after the branch, where its condition is not known any more
from bayesdp.programs import Bool, Database, Private, Real, count, exponential, laplace, linspace, program


@program
def f(obs: Database[Bool]) -> Private[tuple[Real, Real]]:
    n = laplace(count(obs), epsilon=0.5)
    if n <= 0:
        more = 0
    else:
        more = laplace(sum(obs), epsilon=0.1)
    chosen = exponential(score=lambda c: -abs(c - sum(obs)), candidates=linspace(0, 1 + 1 / n, 11), epsilon=1)
    return more, chosen
