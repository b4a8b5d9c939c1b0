# REJECT private-control: a condition chooses between two models of private rows
from bayesdp.programs import Beta, Bool, Database, Private, bernoulli, beta, count, laplace, noise_aware, observe, program, statistics


@program
def f(db: Database[Bool]) -> Private[Beta]:
    k = laplace(count(x for x in db if x), epsilon=0.2)
    a = observe(db, bernoulli, prior=beta(1, 1))
    b = observe(db, bernoulli, prior=beta(2, 1))
    m = a if k > 3 else b
    return noise_aware(laplace(statistics(m), epsilon=1))
