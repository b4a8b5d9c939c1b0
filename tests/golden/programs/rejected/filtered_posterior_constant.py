# REJECT sensitivity: the constant of a public size for a filter of private size
from bayesdp.programs import Beta, Bool, Category, Database, Int, Private, Public, Real, bernoulli, beta, exponential, grid_of, hellinger, infer, observe, program, record, require


@record
class Person:
    age: Int[0, 120]
    height: Real[50, 250]
    sex: Category["f", "m"]
    ill: Bool
    region: Public[Category["north", "south"]]


@program
def f(people: Database[Person]) -> Private[Beta]:
    require(people.size >= 100)
    ill = (p.ill for p in people if p.sex == "f")
    posterior = infer(observe(ill, bernoulli, prior=beta(1, 1)))
    return exponential(
        score=hellinger(posterior),
        candidates=grid_of(beta, a=range(1, 99), b=range(1, 99)),
        epsilon=1,
        sensitivity=0.3389403736,
    )
