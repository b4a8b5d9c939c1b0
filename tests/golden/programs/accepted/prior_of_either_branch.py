# ACCEPT (1, 0): a prior whose numbers a condition on a released value chooses
from bayesdp.programs import Beta, Bool, Database, Private, bernoulli, beta, count, laplace, noise_aware, observe, program, statistics


@program(epsilon=1)
def f(db: Database[Bool]) -> Private[Beta]:
    k = laplace(count(db), epsilon=0.2)
    if k > 10:
        prior = beta(max(k, 1), 1)
    else:
        prior = beta(1, 2)
    return noise_aware(laplace(statistics(observe(db, bernoulli, prior=prior)), epsilon=0.8))
