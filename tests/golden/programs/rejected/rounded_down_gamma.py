# REJECT sensitivity: the distance of Gamma posteriors, rounded down in the tenth digit
from bayesdp.programs import Database, Gamma, Int, Private, clip, exponential, gamma, grid_of, hellinger, infer, observe, poisson, program


@program
def f(xs: Database[Int[0, 1]]) -> Private[Gamma]:
    posterior = infer(observe(xs, poisson(exposure=xs.size), prior=gamma(1, rate=1)))
    return exponential(
        score=hellinger(posterior),
        candidates=grid_of(gamma, a=range(1, 50), b=(1, 10, 100)),
        epsilon=1,
        sensitivity=0.3373026453,
    )
