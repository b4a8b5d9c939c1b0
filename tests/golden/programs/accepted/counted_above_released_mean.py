# ACCEPT (0.8, 0): a released mean as the cutoff of a later private filter.
from bayesdp.programs import Database, Int, Private, Real, clip, count, laplace, program, record


@record
class Person:
    height: Real[50, 250]


@program(epsilon=0.8)
def f(people: Database[Person]) -> Private[tuple[Real, Int]]:
    mean = clip(laplace(sum(clip(p.height, 140, 200) for p in people) / people.size, epsilon=0.4), 140, 200)
    tall = laplace(count(p for p in people if p.height > mean), epsilon=0.4)
    return mean, tall
