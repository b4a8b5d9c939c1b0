# ACCEPT (0.5, 0): candidates from a grid of parameters; Jeffreys prior with its own constant sqrt(1 - 2/pi).
from bayesdp.programs import Beta, Bool, Database, Private, bernoulli, beta, exponential, grid_of, hellinger, infer, observe, program


@program
def jeffreys(obs: Database[Bool]) -> Private[Beta]:
    posterior = infer(observe(obs, bernoulli, prior=beta(1 / 2, 1 / 2)))
    return exponential(
        score=hellinger(posterior),
        candidates=grid_of(beta, a=range(1, 50), b=range(1, 50)),
        epsilon=0.5,
        sensitivity=0.6028102750,
    )
