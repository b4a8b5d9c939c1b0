"""The mean height of the people in Galton's families, whose spread is known from elsewhere."""

from bayesdp.programs import (
    Database,
    Normal,
    Private,
    Real,
    clip,
    laplace,
    noise_aware,
    normal,
    observe,
    program,
    record,
    statistics,
)


@record
class Person:
    height: Real[120, 220]


@program(epsilon=0.5)
def mean_height(people: Database[Person]) -> Private[Normal]:
    """The sum of the heights between 140 and 200 cm: a replaced person moves it by at most 60."""
    heights = (clip(p.height, 140, 200) for p in people)
    model = observe(heights, normal(sd=9), prior=normal(170, sd=15))
    return noise_aware(laplace(statistics(model), epsilon=0.5))
