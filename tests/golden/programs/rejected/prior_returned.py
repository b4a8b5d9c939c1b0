# REJECT type: a prior is public, and no result
from bayesdp.programs import Beta, Bool, Database, Private, beta, count, laplace, program


@program(epsilon=1)
def f(db: Database[Bool]) -> Private[Beta]:
    k = laplace(count(db), epsilon=0.5)
    return beta(max(k, 0) + 1, 1)
