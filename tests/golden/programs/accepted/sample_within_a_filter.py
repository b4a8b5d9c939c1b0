# ACCEPT (1.2, 0): the log-likelihood in [-2, 0]; where a record counts at all is private, and it moves by 2 either way.
from bayesdp.programs import Bool, Database, Private, Real, bernoulli, beta, linspace, observe, posterior_sample, program, record


@record
class Child:
    smoking: Bool
    wheeze: Bool


@program
def draw(children: Database[Child]) -> Private[Real]:
    model = observe((c.wheeze for c in children if c.smoking), bernoulli, prior=beta(1, 1))
    return posterior_sample(model, grid=linspace(0.01, 0.99, 99), log_likelihood=(-2, 0), power=0.3)
