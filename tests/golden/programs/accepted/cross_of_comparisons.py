# ACCEPT (0.3, 0): comparisons crossed with a category in a helper: 12 cells, l1 sensitivity 2.
from bayesdp.programs import Category, Database, Private, Real, Vector, cross, helper, laplace, onehot, program, record


@record
class Person:
    height: Real[50, 250]
    income: Real[0, 100000]
    sex: Category["f", "m", "missing"]


@helper
def bmi_class(p):
    tall = p.height > 180
    rich = p.income > 50000
    return cross(tall, rich, p.sex)


@program
def f(people: Database[Person]) -> Private[Vector]:
    return laplace(sum(onehot(bmi_class(p)) for p in people), epsilon=0.3)
