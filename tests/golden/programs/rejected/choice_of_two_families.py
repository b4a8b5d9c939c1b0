# REJECT type: one name, two families
from bayesdp.programs import Beta, Bool, Database, Private, bernoulli, beta, count, gamma, laplace, observe, plug_in, program, statistics


@program
def f(db: Database[Bool]) -> Private[Beta]:
    k = laplace(count(db), epsilon=0.2)
    prior = beta(1, 1) if k > 10 else gamma(1, 1)
    return plug_in(laplace(statistics(observe(db, bernoulli, prior=prior)), epsilon=0.8))
