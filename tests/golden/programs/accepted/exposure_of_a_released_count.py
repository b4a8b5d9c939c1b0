# ACCEPT (1, 0): a released count as an exposure, at least 0
from bayesdp.programs import Database, Gamma, Int, Private, count, gamma, laplace, noise_aware, observe, poisson, program, statistics


@program
def f(db: Database[Int[0, 5]]) -> Private[Gamma]:
    e = laplace(count(x for x in db if x > 1), epsilon=0.5)
    m = observe(db, poisson(exposure=max(e, 0)), prior=gamma(1, rate=1))
    return noise_aware(laplace(statistics(m), epsilon=0.5))
