# ACCEPT (0.5, 0): a missing value is a category of its own; the whole table is released at once.
from bayesdp.programs import Category, Database, Dirichlet, Private, categorical, cross, dirichlet, laplace, noise_aware, observe, program, record, statistics

WITH_MISSING = 0.5


@record
class Child:
    age7: Category["no", "yes", "missing"]
    age8: Category["no", "yes", "missing"]


@program
def transitions(children: Database[Child]) -> Private[Dirichlet]:
    """From one year to the next, missing answers included."""
    pairs = (cross(c.age7, c.age8) for c in children)
    model = observe(pairs, categorical, prior=dirichlet(WITH_MISSING, 1, 1, 1, 1, 1, 1, 1, 1))
    return noise_aware(laplace(statistics(model), epsilon=0.5))
