# REJECT sensitivity: a parameter below 1 through a constant and a helper
from bayesdp.programs import Beta, Bool, Database, Private, bernoulli, beta, exponential, grid_of, hellinger, helper, infer, observe, program


HALF = 1 - 0.5
UNIFORM = 0.4632513752


@helper
def prior_of(a):
    return beta(a, 3 - a)


@program
def f(obs: Database[Bool]) -> Private[Beta]:
    posterior = infer(observe(obs, bernoulli, prior=prior_of(HALF)))
    return exponential(
        score=hellinger(posterior),
        candidates=grid_of(beta, a=range(1, 9), b=range(1, 9)),
        epsilon=1,
        sensitivity=UNIFORM,
    )
