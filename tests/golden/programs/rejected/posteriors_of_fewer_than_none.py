# REJECT arguments: the size less five, of a database with two rows
from bayesdp.programs import Beta, Bool, Database, Private, bernoulli, beta, exponential, hellinger, infer, observe, posteriors_of, program
@program
def f(db: Database[Bool]) -> Private[Beta]:
    return exponential(score=hellinger(infer(observe(db, bernoulli, prior=beta(1, 1)))), candidates=posteriors_of(beta(1, 1), n=db.size - 5), epsilon=1)
