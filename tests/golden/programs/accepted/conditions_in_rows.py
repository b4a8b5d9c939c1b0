# ACCEPT (0.5, 0): a conditional inside a row, bounded by both of its sides.
from bayesdp.programs import Category, Database, Int, Private, Real, clip, laplace, program, record


@record
class Person:
    age: Int[0, 120]
    income: Real[0, 1000000]
    status: Category["works", "retired", "other"]


@program
def taxed(people: Database[Person]) -> Private[Real]:
    taxes = (
        0.3 * clip(p.income, 0, 100000) if p.status == "works" and p.age < 67 else 0.1 * clip(p.income, 0, 50000)
        for p in people
    )
    return laplace(sum(taxes), epsilon=0.5, sensitivity=30000)
