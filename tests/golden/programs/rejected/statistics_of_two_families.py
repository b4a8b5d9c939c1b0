# REJECT type: statistics of two families have no one posterior
from bayesdp.programs import Beta, Bool, Database, Private, bernoulli, beta, count, gamma, laplace, noise_aware, observe, poisson, program, statistics


@program
def f(db: Database[Bool]) -> Private[Beta]:
    k = laplace(count(x for x in db if x), epsilon=0.2)
    if k > 1:
        noisy = laplace(statistics(observe(db, bernoulli, prior=beta(1, 1))), epsilon=1)
    else:
        noisy = laplace(statistics(observe((1 for x in db if x), poisson(exposure=db.size), prior=gamma(1, 1))), epsilon=1)
    return noise_aware(noisy)
