# ACCEPT (0.5, 0): the posterior as if the noisy count were true.
from bayesdp.programs import Beta, Bool, Database, Private, bernoulli, beta, laplace, observe, plug_in, program, statistics


@program
def plugged(obs: Database[Bool]) -> Private[Beta]:
    noisy = laplace(statistics(observe(obs, bernoulli, prior=beta(1, 1))), epsilon=0.5)
    return plug_in(noisy)
