"""The height of a child from those of its parents, by noisy sufficient statistics."""

from bayesdp.programs import (
    Database,
    Normal,
    Private,
    Real,
    Samples,
    clip,
    gaussian,
    helper,
    linear_model,
    noise_aware,
    normal,
    nuts,
    observe,
    program,
    record,
    statistics,
)


@record
class Family:
    child: Real[120, 220]
    father: Real[120, 220]
    mother: Real[120, 220]


@helper
def scaled(height, middle):
    return clip((height - middle) / 15, -1, 1)


@program(epsilon=2, delta=1e-6)
def from_parents(families: Database[Family]) -> Private[Normal]:
    """Heights as distances from a usual one, in units of 15 cm: all entries lie in [-1, 1]."""
    rows = (
        (1, scaled(f.father, 176), scaled(f.mother, 163), scaled(f.child, 170)) for f in families
    )
    model = observe(rows, linear_model(noise_sd=0.55), prior=normal(0, sd=1))
    return noise_aware(gaussian(statistics(model), epsilon=2, delta=1e-6))


@program(epsilon=2, delta=1e-6)
def sampled(families: Database[Family]) -> Private[Samples]:
    """The same with the moments of the parents unknown too: sampled by NUTS (needs NumPyro)."""
    rows = (
        (1, scaled(f.father, 176), scaled(f.mother, 163), scaled(f.child, 170)) for f in families
    )
    model = observe(rows, linear_model(noise_sd=0.55), prior=normal(0, sd=1))
    return nuts(gaussian(statistics(model), epsilon=2, delta=1e-6), draws=2000)
