# REJECT private-parameter: as many candidates as a private filter keeps
from bayesdp.programs import Beta, Bool, Category, Database, Int, Private, Public, Real, bernoulli, beta, exponential, hellinger, infer, observe, posteriors_of, program, record


@record
class Person:
    age: Int[0, 120]
    height: Real[50, 250]
    sex: Category["f", "m"]
    ill: Bool
    region: Public[Category["north", "south"]]


@program
def f(people: Database[Person]) -> Private[Beta]:
    women = (p.ill for p in people if p.sex == "f")
    prior = beta(1, 1)
    posterior = infer(observe(women, bernoulli, prior=prior))
    return exponential(score=hellinger(posterior), candidates=posteriors_of(prior, n=women.size), epsilon=1)
