# ACCEPT (1.5, 0): a release that is not returned costs all the same, and a public part costs the dearest piece once.
from bayesdp.programs import Bool, Category, Database, Int, Private, Public, count, laplace, partition, program, record


@record
class Person:
    ill: Bool
    town: Public[Category["a", "b"]]


@program
def wasteful(people: Database[Person]) -> Private[Int]:
    ignored = laplace(count(p for p in people if p.ill), epsilon=1)
    total = 0
    for town, group in partition(people, by="town"):
        part = laplace(count(p for p in group if p.ill), epsilon=0.5)
        total = total + part
    return total
