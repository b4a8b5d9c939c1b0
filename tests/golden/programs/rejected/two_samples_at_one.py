# REJECT budget: two posterior samples billed as one
from bayesdp.programs import Bool, Database, Private, Real, bernoulli, beta, linspace, observe, posterior_sample, program


@program(epsilon=1)
def f(obs: Database[Bool]) -> Private[tuple[Real, Real]]:
    model = observe(obs, bernoulli, prior=beta(1, 1))
    grid = linspace(0.05, 0.95, 91)
    first = posterior_sample(model, grid=grid, log_likelihood=(-3, 0), power=1 / 6)
    second = posterior_sample(model, grid=grid, log_likelihood=(-3, 0), power=1 / 6)
    return first, second
