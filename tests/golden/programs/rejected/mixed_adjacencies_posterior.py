# REJECT sensitivity: the replace-one distance is larger than the add-remove one that is asserted
from bayesdp.programs import Beta, Bool, Category, Database, Int, Private, Public, Real, bernoulli, beta, exponential, grid_of, hellinger, infer, observe, program, record


@record
class Person:
    age: Int[0, 120]
    height: Real[50, 250]
    sex: Category["f", "m"]
    ill: Bool
    region: Public[Category["north", "south"]]


@program
def f(people: Database[Person]) -> Private[Beta]:
    posterior = infer(observe((p.ill for p in people), bernoulli, prior=beta(1, 1)))
    return exponential(
        score=hellinger(posterior),
        candidates=grid_of(beta, a=range(1, 99), b=range(1, 99)),
        epsilon=1,
        sensitivity=0.3373031,
    )
