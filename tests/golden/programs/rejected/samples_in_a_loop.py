# REJECT budget: samples in a loop at the price of one
from bayesdp.programs import Bool, Database, Private, Vector, bernoulli, beta, helper, linspace, observe, posterior_sample, program


@helper
def draw(model):
    return posterior_sample(model, grid=linspace(0.1, 0.9, 9), log_likelihood=(-1, 0), power=1 / 2)


@program(epsilon=1)
def f(obs: Database[Bool]) -> Private[Vector]:
    model = observe(obs, bernoulli, prior=beta(1, 1))
    return tuple(draw(model) for _ in range(3))
