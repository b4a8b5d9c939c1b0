# REJECT type: bernoulli observes truth values
from bayesdp.programs import Beta, Bool, Category, Database, Int, Private, Public, Real, bernoulli, beta, laplace, noise_aware, observe, program, record, statistics


@record
class Person:
    age: Int[0, 120]
    height: Real[50, 250]
    sex: Category["f", "m"]
    ill: Bool
    region: Public[Category["north", "south"]]


@program
def f(people: Database[Person]) -> Private[Beta]:
    model = observe((p.age for p in people), bernoulli, prior=beta(1, 1))
    return noise_aware(laplace(statistics(model), epsilon=1))
