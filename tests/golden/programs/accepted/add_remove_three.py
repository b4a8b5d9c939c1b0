# ACCEPT (1, 0): three releases under add-remove; an entry of a released vector.
from bayesdp.programs import Category, Database, Private, Real, clip, count, laplace, onehot, program, record


@record
class Person:
    height: Real[50, 250]
    sex: Category["f", "m", "missing"]


@program(adjacency="add-remove", epsilon=1)
def f(people: Database[Person]) -> Private[tuple[Real, Real]]:
    n = laplace(count(people), epsilon=0.2)
    by_sex = laplace(sum(onehot(p.sex) for p in people), epsilon=0.3)
    total = laplace(sum(clip(p.height, 0, 250) for p in people), epsilon=0.5)
    return total / max(n, 1), by_sex[0]
