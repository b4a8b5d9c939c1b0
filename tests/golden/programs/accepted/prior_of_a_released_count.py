# ACCEPT (1, 0): a released count as a parameter of a prior, held above 0
from bayesdp.programs import Beta, Bool, Database, Private, bernoulli, beta, count, laplace, noise_aware, observe, program, statistics


@program
def f(db: Database[Bool]) -> Private[Beta]:
    a = laplace(count(db), epsilon=0.5)
    m = observe(db, bernoulli, prior=beta(max(a, 1), 1))
    return noise_aware(laplace(statistics(m), epsilon=0.5))
