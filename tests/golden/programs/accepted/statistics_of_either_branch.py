# ACCEPT (1.1, 0): the posterior is derived on both sides, 0.1 + max(1, 0.2)
from bayesdp.programs import Beta, Bool, Database, Private, bernoulli, beta, count, laplace, noise_aware, observe, program, statistics


@program(epsilon=1.1)
def screen(obs: Database[Bool]) -> Private[Beta]:
    first = laplace(count(x for x in obs if x), epsilon=0.1)
    model = observe(obs, bernoulli, prior=beta(1, 1))
    if first > 10:
        noisy = laplace(statistics(model), epsilon=1)
    else:
        noisy = laplace(statistics(model), epsilon=0.2)
    return noise_aware(noisy)
