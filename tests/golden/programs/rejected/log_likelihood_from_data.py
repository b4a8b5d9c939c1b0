# REJECT bounds: bounds of the log-likelihood from the data
from bayesdp.programs import Bool, Database, Private, Real, bernoulli, beta, linspace, observe, posterior_sample, program


@program
def f(obs: Database[Bool]) -> Private[Real]:
    model = observe(obs, bernoulli, prior=beta(1, 1))
    return posterior_sample(model, grid=linspace(0.1, 0.9, 9), log_likelihood=(-sum(obs), 0))
