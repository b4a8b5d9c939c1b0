# ACCEPT (1, 0): under add-remove a sample costs power times the spread of one log-likelihood, 1/3 * 3, though 0 is outside.
from bayesdp.programs import Bool, Database, Private, Real, bernoulli, beta, linspace, observe, posterior_sample, program


@program(adjacency="add-remove")
def draw(tosses: Database[Bool]) -> Private[Real]:
    model = observe(tosses, bernoulli, prior=beta(1, 1))
    return posterior_sample(model, grid=linspace(0.01, 0.99, 99), log_likelihood=(-4, -1), power=1 / 3)
