# UNKNOWN unproved: how far it moves is known for written priors
from bayesdp.programs import Beta, Bool, Database, Private, bernoulli, beta, exponential, hellinger, infer, laplace, observe, plug_in, posteriors_of, program, record, statistics


@record
class P:
    x: Bool
    y: Bool

@program
def f(db: Database[P]) -> Private[Beta]:
    m = observe((p.x for p in db), bernoulli, prior=beta(1, 1))
    prior = plug_in(laplace(statistics(m), epsilon=0.5))
    post = infer(observe((p.y for p in db), bernoulli, prior=prior))
    return exponential(score=hellinger(post), candidates=posteriors_of(prior, n=db.size), epsilon=0.5)
