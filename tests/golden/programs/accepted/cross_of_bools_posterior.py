# ACCEPT (1, 0): two truth values crossed: four cells.
from bayesdp.programs import Bool, Database, Dirichlet, Private, categorical, cross, dirichlet, laplace, noise_aware, observe, program, record, statistics


@record
class Person:
    ill: Bool
    smokes: Bool


@program
def f(people: Database[Person]) -> Private[Dirichlet]:
    post = observe((cross(p.ill, p.smokes) for p in people), categorical, prior=dirichlet(1, 1, 1, 1))
    return noise_aware(laplace(statistics(post), epsilon=1))
