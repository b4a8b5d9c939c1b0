# ACCEPT (1, 0.000001): shares of a public number of records with Gaussian noise.
from bayesdp.programs import Category, Database, Private, Vector, gaussian, onehot, program, record


@record
class Person:
    sex: Category["f", "m", "missing"]


@program(epsilon=1, delta=1e-6)
def f(people: Database[Person]) -> Private[Vector]:
    hist = sum(onehot(p.sex) for p in people)
    return gaussian(hist / people.size, epsilon=1, delta=1e-6)
