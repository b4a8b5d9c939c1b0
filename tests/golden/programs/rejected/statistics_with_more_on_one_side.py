# REJECT type: what is added on one side is no statistic any more
from bayesdp.programs import Beta, Bool, Database, Private, Real, bernoulli, beta, count, laplace, noise_aware, observe, plug_in, program, statistics, gamma, poisson, Vector


@program(epsilon=1)
def f(db: Database[Bool]) -> Private[Beta]:
    k = laplace(count(db), epsilon=0.2)
    a = observe(db, bernoulli, prior=beta(1, 1))
    if k > 1:
        noisy = laplace(statistics(a), epsilon=0.3) 
    else:
        noisy = laplace(statistics(a), epsilon=0.3)  + 1
    return noise_aware(noisy)
