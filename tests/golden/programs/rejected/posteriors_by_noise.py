# REJECT arguments: a noisy number of records may be anything
from bayesdp.programs import Beta, Bool, Database, Private, bernoulli, beta, count, exponential, hellinger, infer, laplace, observe, posteriors_of, program
@program
def f(db: Database[Bool]) -> Private[Beta]:
    k = laplace(count(db), epsilon=0.01)
    return exponential(score=hellinger(infer(observe(db, bernoulli, prior=beta(1, 1)))), candidates=posteriors_of(beta(1, 1), n=k), epsilon=1)
