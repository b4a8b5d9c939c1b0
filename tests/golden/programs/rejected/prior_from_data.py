# REJECT private-parameter: an empirical prior: the divergence doesn't carry through observe
from bayesdp.programs import Beta, Bool, Database, Private, bernoulli, beta, infer, laplace, noise_aware, observe, program, statistics


@program
def f(obs: Database[Bool]) -> Private[Beta]:
    prior = beta(1 + sum(obs), 2)
    return noise_aware(laplace(statistics(observe(obs, bernoulli, prior=prior)), epsilon=1))
