# ACCEPT (1, 0): columns, bounds and budget from a tuple of tuples; a helper with annotations.
from bayesdp.programs import Database, Int, Private, Real, Vector, clip, field, helper, laplace, program, record


@record
class Person:
    age: Int[0, 120]
    height: Real[50, 250]


@helper
def noisy_sum(db, name: str, lo: float, hi: float, eps: float) -> Real:
    """Sum of a column."""
    return laplace(sum(clip(field(row, name), lo, hi) for row in db), epsilon=eps)


@program(epsilon=1)
def f(people: Database[Person]) -> Private[Vector]:
    specs = (("age", 0, 100), ("height", 140, 200))
    return tuple(noisy_sum(people, name, lo, hi, 1 / len(specs)) for name, lo, hi in specs)
