# UNKNOWN unproved: the fault is where the released prior is used, not where it was drawn
from bayesdp.programs import Beta, Bool, Database, Private, bernoulli, beta, exponential, grid_of, hellinger, infer, observe, program
@program
def f(db: Database[Bool]) -> Private[Beta]:
    q = exponential(score=hellinger(infer(observe(db, bernoulli, prior=beta(1, 1)))), candidates=grid_of(beta, a=(0.01, 0.02), b=range(1, 4)), epsilon=1)
    return exponential(score=hellinger(infer(observe(db, bernoulli, prior=q))), candidates=grid_of(beta, a=range(1, 4), b=range(1, 4)), epsilon=1)
