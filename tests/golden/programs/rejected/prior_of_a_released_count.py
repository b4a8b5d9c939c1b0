# REJECT prior: a released count as a parameter of a prior may be 0 or less
from bayesdp.programs import Beta, Bool, Database, Private, bernoulli, beta, count, laplace, noise_aware, observe, program, statistics


@program
def f(db: Database[Bool]) -> Private[Beta]:
    a = laplace(count(db), epsilon=0.5)
    m = observe(db, bernoulli, prior=beta(a, 1))
    return noise_aware(laplace(statistics(m), epsilon=0.5))
