# ACCEPT (0.5, 0): the noisy answers themselves.
from bayesdp.programs import Bool, Database, Private, Vector, program, randomized_response, record


@record
class Person:
    smokes: Bool


@program
def f(people: Database[Person]) -> Private[Vector]:
    return randomized_response((p.smokes for p in people), epsilon=0.5)
