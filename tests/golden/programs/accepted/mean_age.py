# ACCEPT (0.5, 0): the mean of a clipped column moves by (90 - 18) / n, which is known when the noise is drawn.
from bayesdp.programs import Database, Int, Private, Real, clip, laplace, program, record


@record
class Person:
    """One row for each person."""

    age: Int[0, 120]


@program(epsilon=0.5)
def mean_age(people: Database[Person]) -> Private[Real]:
    """The mean age, held between 18 and 90."""
    total = sum(clip(p.age, 18, 90) for p in people)
    return laplace(total / people.size, epsilon=0.5)
