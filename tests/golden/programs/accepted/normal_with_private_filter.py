# ACCEPT (1, 0): how many heights there are is private too: (count, sum) moves by 1 + 200 or, within, by 60.
from bayesdp.programs import Category, Database, Normal, Private, Real, clip, laplace, noise_aware, normal, observe, program, record, statistics


@record
class Person:
    height: Real[50, 250]
    sex: Category["f", "m"]


@program(epsilon=1)
def women(people: Database[Person]) -> Private[Normal]:
    heights = (clip(p.height, 140, 200) for p in people if p.sex == "f")
    model = observe(heights, normal(sd=7), prior=normal(165, sd=20))
    return noise_aware(laplace(statistics(model), epsilon=1))
