# ACCEPT (0.3, 0): two counts in each private piece: 0.15, and twice that where a record changes piece.
from bayesdp.programs import Bool, Category, Database, Private, Real, count, laplace, partition, program, record


@record
class Person:
    sex: Category["f", "m", "missing"]
    ill: Bool


@program
def f(people: Database[Person]) -> Private[tuple[Real, ...]]:
    results = ()
    for sex, group in partition(people, by="sex"):
        results = results + (laplace(count(group), epsilon=0.1) + laplace(count(p for p in group if p.ill), epsilon=0.05),)
    return results
