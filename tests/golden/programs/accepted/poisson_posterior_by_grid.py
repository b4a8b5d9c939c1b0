# ACCEPT (1, 0): a Gamma posterior by its distance to candidates; counts clipped to [0, 2] with shape 3.
from bayesdp.programs import Database, Gamma, Int, Private, clip, exponential, gamma, grid_of, hellinger, infer, linspace, observe, poisson, program


@program(epsilon=1)
def rate(counts: Database[Int[0, 30]]) -> Private[Gamma]:
    model = observe((clip(c, 0, 2) for c in counts), poisson(exposure=counts.size), prior=gamma(3, rate=1))
    return exponential(
        score=hellinger(infer(model)),
        candidates=grid_of(gamma, a=range(3, 200, 5), b=linspace(1, 101, 3)),
        epsilon=1,
    )
