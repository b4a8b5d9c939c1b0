# ACCEPT (0.5, 0): under add-remove a record is in one piece only: the dearest piece counts.
from bayesdp.programs import Category, Database, Private, Vector, count, laplace, partition, program, record


@record
class Person:
    group: Category["a", "b"]


@program(adjacency="add-remove", epsilon=0.5)
def sizes(people: Database[Person]) -> Private[Vector]:
    return tuple(laplace(count(piece), epsilon=0.5) for piece in partition(people, by="group"))
