# REJECT budget: a sample and the statistics it came from, billed once
from bayesdp.programs import Bool, Database, Int, Private, Real, bernoulli, beta, laplace, linspace, observe, posterior_sample, program, statistics


@program(epsilon=1)
def f(obs: Database[Bool]) -> Private[tuple[Real, Int]]:
    model = observe(obs, bernoulli, prior=beta(1, 1))
    draw = posterior_sample(model, grid=linspace(0.1, 0.9, 9), log_likelihood=(-3, 0), power=1 / 6)
    return draw, laplace(statistics(model), epsilon=1)
