# REJECT static: the cost would depend on what was released
from bayesdp.programs import Beta, Bool, Database, Private, bernoulli, beta, count, laplace, noise_aware, observe, program, statistics


@program(epsilon=1.1)
def screen(obs: Database[Bool]) -> Private[Beta]:
    first = laplace(count(x for x in obs if x), epsilon=0.1)
    model = observe(obs, bernoulli, prior=beta(1, 1))
    return noise_aware(laplace(statistics(model), epsilon=1 if first > 10 else 0.2))
