# REJECT type: minus the statistics are not the statistics
from bayesdp.programs import Beta, Bool, Database, Private, bernoulli, beta, laplace, noise_aware, observe, program, statistics


@program
def f(obs: Database[Bool]) -> Private[Beta]:
    noisy = laplace(-statistics(observe(obs, bernoulli, prior=beta(1, 1))), epsilon=1)
    return noise_aware(noisy)
