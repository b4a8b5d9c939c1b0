# ACCEPT (1, 0): a count of a private filter moves by 1; the quotient of released values is free.
from bayesdp.programs import Bool, Database, Int, Private, Real, count, laplace, program, record


@record
class Person:
    age: Int[0, 120]
    smokes: Bool


@program
def share_of_smokers(people: Database[Person]) -> Private[tuple[Real, Real]]:
    adults = (p for p in people if p.age >= 18 and p.age < 65)
    smokers = laplace(count(p for p in adults if p.smokes), epsilon=0.5)
    everybody = laplace(count(adults), epsilon=0.5)
    return smokers / max(everybody, 1), everybody
