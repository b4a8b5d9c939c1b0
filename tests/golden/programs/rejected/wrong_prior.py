# REJECT prior: a likelihood and a prior without an exact posterior
from bayesdp.programs import Beta, Bool, Database, Private, bernoulli, gamma, infer, laplace, noise_aware, observe, program, statistics


@program
def f(obs: Database[Bool]) -> Private[Beta]:
    return noise_aware(laplace(statistics(observe(obs, bernoulli, prior=gamma(1, rate=1))), epsilon=1))
