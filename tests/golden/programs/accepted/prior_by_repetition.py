# ACCEPT (0.5, 0): (1,) * 3 is three entries, as in Python.
from bayesdp.programs import Category, Database, Dirichlet, Private, categorical, dirichlet, laplace, observe, plug_in, program, record, statistics


@record
class Person:
    sex: Category["f", "m", "missing"]


@program
def f(people: Database[Person]) -> Private[Dirichlet]:
    model = observe((p.sex for p in people), categorical, prior=dirichlet((1,) * 3))
    return plug_in(laplace(statistics(model), epsilon=0.5))
