# ACCEPT (0.2, 0): constants, type aliases and docstrings at module level.
"""Heights, with everything named at the top."""
from __future__ import annotations

from bayesdp.programs import Category, Database, Private, Public, Real, clip, helper, laplace, program, record

LOW = 140
HIGH = 200
RANGE = (LOW, HIGH)
BUDGET = 2 / 10
Height = Real[50, 250]
Sex = Category["f", "m"]


@record
class Person:
    """A person of the study."""

    height: Height
    sex: Public[Sex]


@helper
def held(height):
    """A height between the bounds."""
    low, high = RANGE
    return clip(height, low, high)


@program(epsilon=BUDGET)
def total(people: Database[Person]) -> Private[Real]:
    """The total height of women."""
    return laplace(sum(held(p.height) for p in people if p.sex == "f"), epsilon=BUDGET)
