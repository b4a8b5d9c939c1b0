# ACCEPT (0.4, 0): twelve cells, their prior from a static generator.
from bayesdp.programs import Bool, Category, Database, Dirichlet, Private, categorical, cross, dirichlet, laplace, noise_aware, observe, program, record, statistics


@record
class Person:
    sex: Category["f", "m", "missing"]
    ill: Bool
    smokes: Bool


@program(epsilon=0.4)
def f(people: Database[Person]) -> Private[Dirichlet]:
    prior = dirichlet(tuple(0.5 for _ in range(12)))
    model = observe((cross(p.sex, p.smokes, p.ill) for p in people), categorical, prior=prior)
    return noise_aware(laplace(statistics(model), epsilon=0.4, sensitivity=2))
