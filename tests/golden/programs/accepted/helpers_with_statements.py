# ACCEPT (1, 0): helpers with several statements, one of the row and one that releases.
from bayesdp.programs import Database, Int, Private, Real, clip, helper, laplace, program, record


@record
class Person:
    weight: Real[1, 300]
    height: Real[0.5, 2.5]
    age: Int[0, 120]


@helper
def score(p: Person) -> Real:
    weight = clip(p.weight, 40, 160)
    taller = clip(p.height, 1.2, 2.2) - 1.2
    if p.age >= 65:
        factor = 0.5
    else:
        factor = 1
    return factor * (weight / 160 + taller)


@helper
def noisy_mean(values, n, *, epsilon=0.5):
    total = sum(values)
    return laplace(total / n, epsilon=epsilon)


@program(epsilon=1)
def scores(people: Database[Person]) -> Private[tuple[Real, Real]]:
    everybody = noisy_mean((score(p) for p in people), people.size)
    young = noisy_mean((score(p) for p in people if p.age < 30), people.size, epsilon=1 / 2)
    return everybody, young
