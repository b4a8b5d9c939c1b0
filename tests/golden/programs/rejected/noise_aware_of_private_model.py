# REJECT private-output: noise_aware of data that nothing was added to
from bayesdp.programs import Beta, Bool, Database, Private, bernoulli, beta, noise_aware, observe, program


@program
def f(obs: Database[Bool]) -> Private[Beta]:
    return noise_aware(observe(obs, bernoulli, prior=beta(1, 1)))
