# REJECT type: poisson observes whole numbers
from bayesdp.programs import Bool, Category, Database, Gamma, Int, Private, Public, Real, gamma, laplace, noise_aware, observe, poisson, program, record, statistics


@record
class Person:
    age: Int[0, 120]
    height: Real[50, 250]
    sex: Category["f", "m"]
    ill: Bool
    region: Public[Category["north", "south"]]


@program
def f(people: Database[Person]) -> Private[Gamma]:
    model = observe((p.height for p in people), poisson(exposure=people.size), prior=gamma(1, rate=1))
    return noise_aware(laplace(statistics(model), epsilon=1))
