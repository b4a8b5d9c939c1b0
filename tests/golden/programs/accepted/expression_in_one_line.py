# ACCEPT (1, 0): models, posteriors and candidates in one expression.
from bayesdp.programs import Beta, Bool, Database, Private, bernoulli, beta, exponential, hellinger, infer, observe, posteriors_of, program, record


@record
class Person:
    ill: Bool


@program
def f(people: Database[Person]) -> Private[Beta]:
    return exponential(
        score=hellinger(infer(observe((p.ill for p in people), bernoulli, prior=beta(2, 2)))),
        candidates=posteriors_of(beta(2, 2), n=people.size),
        epsilon=1.0,
    )
