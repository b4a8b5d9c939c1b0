# ACCEPT (1, 0): rows of a matrix, one for each public region.
from bayesdp.programs import Category, Database, Matrix, Private, Public, laplace, onehot, partition, program, record


@record
class Person:
    sex: Category["f", "m", "missing"]
    region: Public[Category["north", "south"]]


@program
def f(people: Database[Person]) -> Private[Matrix]:
    rows = tuple(laplace(sum(onehot(p.sex) for p in g), epsilon=1) for g in partition(people, by="region"))
    return rows
