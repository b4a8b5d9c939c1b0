# REJECT bounds: counts below zero under a Poisson posterior's distance
from bayesdp.programs import Database, Gamma, Int, Private, exponential, gamma, grid_of, hellinger, infer, observe, poisson, program


@program
def f(xs: Database[Int[-5, 5]]) -> Private[Gamma]:
    posterior = infer(observe(xs, poisson(exposure=xs.size), prior=gamma(1, rate=1)))
    return exponential(score=hellinger(posterior), candidates=grid_of(gamma, a=range(1, 9), b=(1, 2)), epsilon=1)
