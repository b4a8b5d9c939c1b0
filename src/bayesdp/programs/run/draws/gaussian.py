"""How much Gaussian noise a release gets (theory 8.5).

A standard deviation is known before the release: the ledger is debited by it. So it depends on what
is stated, and never on released values or on data. Which law of the noise it rests on is decided
beforehand too:

* `number`: one whole number; the discrete law is summed on its own grid.
* `counts`: cells of a table; one grows by 1 and another falls by 1, the discrete law is summed.
* `fine`: real values; on a grid of at least 2^24 steps in the move the discrete law is the
  continuous one, up to an error that is bounded.
* `whole`: anything else on whole numbers, and an asserted sigma: the conversion of the zCDP cost,
  which is the same on every grid.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import isqrt, log, sqrt
from typing import Any, Literal

from bayesdp.errors import InputError
from bayesdp.leakage.normal_curve import normal_delta
from bayesdp.mechanisms.laplace import MAX_SCALE, MIN_SCALE
from bayesdp.programs.check.noise import FINE, counts_delta, fine_delta, gaussian_delta
from bayesdp.programs.ir import Release, expression
from bayesdp.programs.run.draws.noise import in_range
from bayesdp.programs.run.values.grid_steps import FINEST, Steps, fits, in_steps
from bayesdp.programs.run.values.private import RESOLUTION, PrivateValue, power_of_two, width_of
from bayesdp.programs.run.values.public import PublicValues
from bayesdp.programs.whole_numbers import is_whole

_SQUARE_ROOT_DIGITS = 10**18
_EXACT_COUNTS = Fraction(2**52)


@dataclass(frozen=True, slots=True)
class NoiseLaw:
    """The law above that proves a standard deviation, and how many entries get noise."""

    name: Literal["number", "counts", "fine", "whole"]
    entries: int


def law_of(release: Release, node: Mapping[str, Any], values: PublicValues) -> NoiseLaw:
    """The law that a Gaussian release rests on, from what is known before it.

    Whole numbers stay on whole numbers, whatever the values are that are known only later: their
    text alone says so. Anything else gets the fine grid.
    """
    expr = release.args[0]
    width = width_of(expr)
    entries = width or 1
    squared = values.number(expression(node["sensitivity"]["value"]))
    asserted = "sigma" in dict(release.options)
    if not is_whole(expr, values.kinds, values.whole):
        return NoiseLaw("whole" if asserted else "fine", entries)
    if squared.denominator == 1 and squared < _EXACT_COUNTS:
        if width is None:
            return NoiseLaw("number", 1)
        if node["sensitivity"]["by"] == "onehot" and squared <= 2 and not asserted:
            return NoiseLaw("counts", entries)
    return NoiseLaw("whole", entries)


def sigma_of(release: Release, node: Mapping[str, Any], values: PublicValues) -> Fraction:
    """The standard deviation of a Gaussian release, in the value's unit, before the grid's slack.

    What was asserted is used as it is. Raises `InputError` for a delta that no noise reaches.
    """
    asserted = dict(release.options).get("sigma")
    if asserted is not None:
        return values.number(asserted)
    squared = values.number(expression(node["sensitivity"]["value"]))
    pair = Fraction(node["epsilon"]), Fraction(node["delta"])
    return _sigma(law_of(release, node, values), squared, *pair)


def _sigma(law: NoiseLaw, squared: Fraction, epsilon: Fraction, delta: Fraction) -> Fraction:
    if law.name == "number":
        return Fraction(number_scale(squared, epsilon, delta))
    if law.name == "counts":
        return Fraction(counts_scale(int(squared), epsilon, delta))
    entries = law.entries if law.name == "fine" else None
    return Fraction(multiple(epsilon, delta, entries)) * root_above(squared)


def noisy_steps(
    release: Release,
    node: Mapping[str, Any],
    now: Fraction,
    amount: PrivateValue,
    values: PublicValues,
) -> tuple[Steps, float]:
    """A private value in steps, and the scale of its noise in steps.

    `now` is the squared l2 move at the values that public names have: never above the derivation's.
    """
    squared = values.number(expression(node["sensitivity"]["value"]))
    if now > squared:
        raise AssertionError("a move above the derivation's")  # holds under `python -O` too
    stated_law, sigma = law_of(release, node, values), sigma_of(release, node, values)
    root, asserted = root_above(squared), "sigma" in dict(release.options)
    law = _admitted(stated_law, amount, root, asserted)
    if law != stated_law and not asserted:  # never less noise than was paid for
        pair = Fraction(node["epsilon"]), Fraction(node["delta"])
        sigma = max(sigma, _sigma(law, squared, *pair))
    steps = in_steps(amount, root, _unit(law, amount, root))
    if law.name == "fine" and root / steps.unit < 2**FINE:
        raise AssertionError("a grid coarser than the bound is for")
    return steps, in_range(_stretched(sigma, steps, squared) / steps.unit)


def _admitted(law: NoiseLaw, amount: PrivateValue, root: Fraction, asserted: bool) -> NoiseLaw:
    """The law that holds on the grid of this value: the one that was stated, wherever it can be."""
    whole_steps = amount.lattice.denominator == 1 and not amount.slack
    if law.name in ("number", "counts") and not whole_steps:
        # Numbers beyond what doubles hold exactly.
        law = NoiseLaw("whole" if asserted else "fine", law.entries)
    unit = _unit(law, amount, root)
    if unit is None or fits(amount, unit):
        return law
    if asserted:
        raise InputError(
            "sigma",
            expected="noise on sums that fit 64-bit integers",
            remedy="Leave sigma out: a grid is then chosen on which they do.",
            shown=False,
        )
    return NoiseLaw("whole", law.entries)


def _unit(law: NoiseLaw, amount: PrivateValue, root: Fraction) -> Fraction | None:
    """The step that a law asks for; None where it holds on every grid."""
    if law.name in ("number", "counts"):
        return Fraction(1)
    return fine_unit(amount.lattice, root) if law.name == "fine" else None


def fine_unit(lattice: Fraction, root: Fraction) -> Fraction:
    """A step of which at least 2^24 make up the move, and the lattice if that is coarser."""
    if not lattice or root / lattice > FINEST:
        return Fraction(2) ** (power_of_two(root) - RESOLUTION)
    return lattice / Fraction(2) ** max(0, FINE + 1 - power_of_two(root / lattice))


def root_above(squared: Fraction) -> Fraction:
    """The square root, rounded up; exact where the root is a fraction."""
    top = squared.numerator * squared.denominator
    root = isqrt(top)
    if root * root == top:
        return Fraction(root, squared.denominator)
    scaled = isqrt(top * _SQUARE_ROOT_DIGITS**2) + 1
    return Fraction(scaled, squared.denominator * _SQUARE_ROOT_DIGITS)


def _stretched(sigma: Fraction, steps: Steps, squared: Fraction) -> Fraction:
    """Sigma scaled up so that the slack (at most that in l2 too) costs nothing more."""
    if not steps.slack:
        return sigma
    low = squared / root_above(squared)  # at most the root
    return sigma * (1 + steps.slack / low)


# -- scales: proposed in doubles, decided in balls -------------------------------------------------


@lru_cache(maxsize=256)
def number_scale(squared: Fraction, epsilon: Fraction, delta: Fraction) -> float:
    """The scale for a whole number that moves by at most the root of `squared`, in steps of 1."""
    root = isqrt(squared.numerator)
    exact = root * root == squared.numerator
    scale = _converted(epsilon, delta) * sqrt(squared)
    if exact and scale < 4000:
        from bayesdp.mechanisms.gaussian import smallest_sigma

        scale = min(scale, smallest_sigma(root, float(epsilon), float(delta)))
    elif exact:
        scale = min(scale, _smooth(epsilon, delta) * root)
    return _raised(scale, lambda sigma: gaussian_delta(sigma, squared, epsilon, exact), delta)


@lru_cache(maxsize=256)
def counts_scale(squared: int, epsilon: Fraction, delta: Fraction) -> float:
    """The scale for cells of a table: `squared` is 2, or 1 if a record only enters or leaves."""
    if squared == 1:
        return number_scale(Fraction(1), epsilon, delta)
    low = _smooth(epsilon, delta) * sqrt(squared) * 0.98
    high = low
    while counts_delta(Fraction(high), squared, epsilon) > delta:
        low, high = high, high * 1.02
        if high > MAX_SCALE:
            break
    for _ in range(12):
        middle = (low + high) / 2
        enough = counts_delta(Fraction(middle), squared, epsilon) <= delta
        low, high = (low, middle) if enough else (middle, high)
    high = min(high, _converted(epsilon, delta) * sqrt(squared))

    def reached(sigma: Fraction) -> Fraction:
        other = gaussian_delta(sigma, Fraction(squared), epsilon, False)
        return min(counts_delta(sigma, squared, epsilon), other)

    return _raised(high, reached, delta)


@lru_cache(maxsize=256)
def multiple(epsilon: Fraction, delta: Fraction, entries: int | None) -> float:
    """The least sigma over the l2 move on every grid; with `entries`, on every fine grid.

    A fine grid has 2^24 steps in the move at least: more of them make delta smaller.
    """
    scale = _converted(epsilon, delta)
    steps = 2**FINE

    def reached(sigma: Fraction) -> Fraction:
        level = gaussian_delta(sigma, Fraction(1), epsilon, False)
        if level > delta and entries is not None:
            level = fine_delta(sigma * steps, Fraction(steps**2), epsilon, entries)
        return level

    if entries is not None:
        scale = min(scale, _smooth(epsilon, delta))
    return _raised(scale, reached, delta)


def _raised(scale: float, reached: Callable[[Fraction], Fraction], delta: Fraction) -> float:
    """A scale, raised from a proposed one until balls prove that its delta is small enough."""
    scale, step = min(max(scale, MIN_SCALE), MAX_SCALE), Fraction(1, 2**24)
    for _ in range(40):
        if reached(Fraction(scale)) <= delta:
            return scale
        scale, step = in_range(Fraction(scale) * (1 + step)), step * Fraction(3, 2)
    raise InputError(
        "delta",
        float(delta),
        expected="a delta that Gaussian noise can reach",
        remedy="Use a larger delta, or Laplace noise.",
    )


def _converted(epsilon: Fraction, delta: Fraction) -> float:
    """A first guess at the multiple: where the conversion of the zCDP cost gives delta."""
    eps, target = float(epsilon), log(delta.numerator) - log(delta.denominator)
    low, high = 1e-12, 1e6 + eps

    def log_delta(rho: float) -> float:
        middle = max((eps + rho) / (2 * rho), 1.01)
        best = 0.0
        for step in range(-30, 61):
            a = 1 + (middle - 1) * 1.1**step
            value = (a - 1) * (a * rho - eps) + a * log(1 - 1 / a) - log(a - 1)
            best = min(best, value)
        return best

    for _ in range(100):
        middle = sqrt(low * high)
        low, high = (middle, high) if log_delta(middle) <= target else (low, middle)
    return 1 / sqrt(2 * low) * (1 + 1e-9)


def _smooth(epsilon: Fraction, delta: Fraction) -> float:
    """A first guess: the multiple of continuous noise (Balle & Wang 2018); inf for tiny deltas."""
    eps, target = float(epsilon), float(delta)
    if target < 1e-80 or eps > 700:
        return float("inf")
    low, high = 1e-3, 1e9
    for _ in range(100):
        middle = sqrt(low * high)
        low, high = (low, middle) if normal_delta(1 / middle, eps) <= target else (middle, high)
    return high * (1 + 1e-9)
