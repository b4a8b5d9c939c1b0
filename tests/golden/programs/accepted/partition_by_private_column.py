# ACCEPT (1, 0): a record that changes its private group leaves one piece and enters another: each costs 0.5 then.
from bayesdp.programs import Category, Database, Int, Private, Vector, count, laplace, partition, program, record


@record
class Person:
    group: Category["a", "b", "c"]
    age: Int[0, 100]


@program(epsilon=1)
def sizes(people: Database[Person]) -> Private[Vector]:
    return tuple(laplace(count(piece), epsilon=0.5) for piece in partition(people, by="group"))
