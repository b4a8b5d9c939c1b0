# REJECT name: a prior on one side, a posterior on the other; nothing is private
from bayesdp.programs import Beta, Bool, Database, Private, bernoulli, beta, count, laplace, noise_aware, observe, program, statistics


@program(epsilon=1)
def f(db: Database[Bool]) -> Private[Beta]:
    k = laplace(count(db), epsilon=0.2)
    belief = beta(1, 1)
    if k >= 20:
        belief = noise_aware(laplace(statistics(observe(db, bernoulli, prior=belief)), epsilon=0.8))
    return belief
