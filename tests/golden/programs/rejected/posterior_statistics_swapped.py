# REJECT type: released statistics that were changed are not a model's
from bayesdp.programs import Beta, Bool, Database, Private, bernoulli, beta, clip, laplace, noise_aware, observe, program, statistics


@program
def f(obs: Database[Bool]) -> Private[Beta]:
    noisy = laplace(statistics(observe(obs, bernoulli, prior=beta(1, 1))), epsilon=1)
    return noise_aware(clip(noisy, 0, obs.size))
