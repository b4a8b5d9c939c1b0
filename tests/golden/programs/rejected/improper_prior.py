# REJECT prior: a prior with a parameter of 0
from bayesdp.programs import Beta, Bool, Database, Private, bernoulli, beta, laplace, noise_aware, observe, program, statistics


@program
def f(obs: Database[Bool]) -> Private[Beta]:
    return noise_aware(laplace(statistics(observe(obs, bernoulli, prior=beta(0, 0))), epsilon=1))
