"""What follows from released numbers: ratios, the largest ones, numbers that add up, running sums.

All of it is computed from what was released, so it costs nothing, changes no guarantee, and stands
on no certificate (post-processing). Each states an error that holds for what it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from fractions import Fraction
from itertools import accumulate
from typing import Protocol, TypeVar

from bayesdp.errors import InputError, finite_number, inner_probability, whole_number
from bayesdp.mechanisms import DiscreteGaussian, DiscreteLaplace
from bayesdp.numbers import float_above
from bayesdp.release.price.noise import Noise
from bayesdp.statements.base import exact_text
from bayesdp.statements.queries import RANDOMIZED_RESPONSE


class NoisyNumber(Protocol):
    """What is used here of a released number: see `Result`."""

    @property
    def query(self) -> str:
        """The name of its query."""

    @property
    def kind(self) -> str:
        """The kind of its query."""

    @property
    def value(self) -> float:
        """The number that was released."""

    @property
    def noise(self) -> Noise:
        """The law of its noise, in steps."""

    @property
    def noise_unit(self) -> float:
        """The length of a step, in the value's unit."""

    def error(self, confidence: float) -> float:
        """How far off it is at most with this probability, rounded up."""


Number = TypeVar("Number", bound=NoisyNumber)

EXACT = ("count", "sum", "mean", "proportion", "histogram")
"""Kinds whose noise is added to the number, and nothing is done to it afterwards."""

RANKED = (*EXACT, "variance", "covariance")
"""Kinds whose numbers have noise of their own, so that they can be put in order of size."""

_SHARES = (0.1, 0.3, 0.5, 0.7, 0.9)
"""How the chance of being wrong may be divided between a numerator and a denominator."""

_CELLS = 64
_ALIKE = 1e-4
_OUTWARD = 1.0 + 1e-9


@dataclass(frozen=True, slots=True)
class Ratio:
    """A ratio of two released numbers. The exact one lies from `low` to `high`.

    With a probability of at least `confidence`, over the noise of both. `value` is the ratio of the
    released numbers, and not in the middle of the interval. The error is that of the noise alone,
    as that of the numbers is.
    """

    value: float
    low: float
    high: float
    confidence: float

    def __str__(self) -> str:
        low, high = outward(self.low, ROUND_FLOOR), outward(self.high, ROUND_CEILING)
        return f"{self.value:.6g} in [{low}, {high}] ({100.0 * self.confidence:g} %)"


def outward(number: float, rounding: str) -> str:
    """A number with six digits, rounded outward."""
    return exact_text(float(Context(prec=6, rounding=rounding).create_decimal_from_float(number)))


def ratio(numerator: NoisyNumber, denominator: NoisyNumber, confidence: float) -> Ratio:
    """The ratio of two released numbers whose noises are independent, as all noises are.

    A ratio `r` is in the interval unless `|a - r d|`, for the released `a` and `d`, is more than
    the noise `|X - r Y|` is with probability `1 - confidence` at most (Fieller's method, with the
    noise's own law). For the exact ratio `a - r d` is that noise, so it is in the interval with the
    confidence, whatever the numbers are. Source: theory 4, "Ratios".

    Raises `InputError` for results that are not two numbers with noise of their own, and where the
    denominator may be 0: then no interval holds.

    **Ratios.** Let `a = A + X` and `d = D + Y` be released, `A` and `D` the exact numbers, `X` and
    `Y` their independent noises. For the exact ratio `r = A / D` it is `a - r d = X - r Y`. Let
    `h(r)` bound the size of `X - r Y` with probability `1 - beta` for each fixed `r`. The set `{r
    : |a - r d| <= h(r)}` then has the exact ratio in it with that probability, whatever `A` and `D`
    are (Fieller 1954), and an interval around the set is stated. It has ends only where `|d|` is
    larger than its own noise; otherwise the ratio is refused.

    `h(r)` is the least of these. *Any noise*: `e_X + |r| e_Y` with the errors at shares of `beta`
    that add up to it, for five ways to divide it. *Laplace noise*: discrete noise of scale b is
    within one step of continuous noise of the same scale, if both are drawn from one uniform
    number, since `P[|Z| > k] = 2 a^(k+1) / (1 + a)` lies between `a^(k+1)` and `a^k`. The sum of
    continuous ones of scales s and t exceeds z with probability `(s^2 e^(-z/s) - t^2 e^(-z/t)) /
    (s^2 - t^2)` (partial fractions of `1 / ((1 + s^2 u^2) (1 + t^2 u^2))`), which grows with either
    scale. *Gaussian noise*: `E e^(uZ)` is `e^(u^2 sigma^2 / 2)` times the quotient of the sums of
    `e^(-(z - sigma^2 u)^2 / (2 sigma^2))` and of `e^(-z^2 / (2 sigma^2))` over all integers, which
    is at most 1 by Poisson's formula; so `X - rY` exceeds `z` in size with at most `2 e^(-z^2 / (2
    (s^2 + r^2 t^2)))`. ∎
    """
    _check_parts(numerator, denominator)
    confidence = inner_probability("confidence", confidence)
    top, bottom = numerator.value, denominator.value
    side = math.copysign(1.0, bottom)
    ends = _Fieller(numerator, denominator, confidence, side * top, abs(bottom)).ends()
    if ends is None:
        raise InputError(
            "denominator",
            f"{denominator}",
            expected="a number that is further from 0 than its noise can be",
            remedy="It may be 0: no interval of the ratio holds. Spend more on it, or ask about "
            "more rows.",
        )
    return Ratio(top / bottom, *ends, confidence)


def _check_parts(numerator: NoisyNumber, denominator: NoisyNumber) -> None:
    for name, part in (("numerator", numerator), ("denominator", denominator)):
        if part.kind not in EXACT:
            raise InputError(
                name,
                part.kind,
                expected=f"a result of kind {', '.join(EXACT)}",
                remedy="The noise of others is not added to their value.",
            )
    if numerator is denominator or numerator == denominator:
        raise InputError("denominator", str(denominator), expected="another number")


class _Fieller:
    """The ratios that two noisy numbers allow, the lower one above 0."""

    def __init__(
        self, over: NoisyNumber, under: NoisyNumber, confidence: float, top: float, bottom: float
    ) -> None:
        self.over, self.under, self.allowed = over, under, _failure(confidence)
        self.top, self.bottom = top, bottom
        self.together = [
            (
                over.error(1.0 - share * self.allowed),
                under.error(1.0 - (1.0 - share) * self.allowed),
            )
            for share in _SHARES
        ]

    def ends(self) -> tuple[float, float] | None:
        """The interval's ends, rounded outward; `None` where it would be without end."""
        bounded = [(a, b * _OUTWARD) for a, b in self.together if b * _OUTWARD < self.bottom]
        if not bounded:
            return None
        high = min(_outermost(self.top, self.bottom, *both) for both in bounded)
        low = -min(_outermost(-self.top, self.bottom, *both) for both in bounded)
        middle = self.top / self.bottom
        high = self._moved_in(self.top, middle, high)
        low = -self._moved_in(-self.top, -middle, -low)
        extra = (_OUTWARD - 1.0) * max(abs(low), abs(high))
        return low - extra, high + extra

    def _moved_in(self, top: float, middle: float, end: float) -> float:
        """The upper end for the numerator `top`, moved in from `end` as far as ratios are excluded.

        The noise grows with the ratio, so that a whole cell of ratios is excluded where its inner
        end is, with the noise of its largest ratio.
        """
        for _ in range(2):
            cells = [middle + (end - middle) * i / _CELLS for i in range(_CELLS + 1)]
            for inner, outer in zip(reversed(cells[:-1]), reversed(cells[1:]), strict=True):
                end = outer
                if inner * self.bottom - top <= self.noise(max(abs(inner), abs(outer))):
                    middle = inner
                    break
            else:
                return middle
        return end

    def noise(self, share: float) -> float:
        """A bound on `|X - r Y|` that holds with the confidence, where `share` is `|r|`."""
        bounds = [a + share * b for a, b in self.together]
        over, under = self.over, self.under
        scales = over.noise.scale * over.noise_unit, share * under.noise.scale * under.noise_unit
        laws = over.noise, under.noise
        if all(isinstance(law, DiscreteLaplace) for law in laws):
            steps = over.noise_unit + share * under.noise_unit
            bounds.append(_sum_of_laplace(*scales, self.allowed) + steps)
        if all(isinstance(law, DiscreteGaussian) for law in laws):
            # Each is sub-Gaussian with its scale, and so is the sum.
            bounds.append(math.hypot(*scales) * math.sqrt(2.0 * math.log(2.0 / self.allowed)))
        return min(bounds) * _OUTWARD


def _outermost(top: float, bottom: float, over: float, under: float) -> float:
    """The largest ratio for a numerator up to `over` more and a denominator up to `under` off."""
    largest = top + over
    return largest / (bottom - under if largest >= 0.0 else bottom + under)


def _sum_of_laplace(first: float, second: float, beta: float) -> float:
    """What the sum of two Laplace noises of these scales exceeds with probability `beta` at most.

    Of scales s and t it exceeds z with `(s^2 e^(-z/s) - t^2 e^(-z/t)) / (s^2 - t^2)`. Scales that
    are nearly the same count as the larger one of them, which is more noise.
    """
    large, small = max(first, second), min(first, second)
    if large == 0.0:
        return 0.0
    alike = small > large * (1.0 - _ALIKE)
    share = small / large

    def exceeded(z: float) -> float:
        """For z in units of the larger scale."""
        if alike:
            return (1.0 + z / 2.0) * math.exp(-z)
        second_tail = share * share * math.exp(-z / share) if share > 0.0 else 0.0
        return (math.exp(-z) - second_tail) / (1.0 - share * share)

    return large * _least(lambda z: exceeded(z) <= beta)


def _least(holds: Callable[[float], bool]) -> float:
    """A number for which it `holds`, as for all above, and hardly above the least; by bisection."""
    low, high = 0.0, 1.0
    while not holds(high):
        low, high = high, 2.0 * high
    for _ in range(34):
        middle = (low + high) / 2.0
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


# -- the largest numbers ---------------------------------------------------------------------------


def largest(results: Sequence[Number], count: int) -> list[Number]:
    """The `count` largest of the numbers of one query, the largest first.

    Of numbers that are the same the one that was declared first comes first. Raises `InputError`
    for a count that is not from 1 to how many there are, and for quantiles.
    """
    _check_alike(results)
    count = whole_number("count", count, most=len(results))
    return sorted(results, key=lambda result: -result.value)[:count]


def separation(results: Sequence[NoisyNumber], confidence: float) -> float:
    """How much larger a number may be than one that was released as larger, of all these.

    With a probability of at least `confidence` no noise among m of them is beyond its error at
    `1 - (1 - confidence) / m`, so exact numbers differ in the other direction by at most twice
    that. In the results' unit, rounded up. Raises `InputError` for averages over groups of
    different sizes, whose noises differ.
    """
    return 2.0 * all_noise(results, confidence)


def all_noise(results: Sequence[NoisyNumber], confidence: float) -> float:
    """At most so far off are all of the numbers at once, with this probability.

    In the results' unit. Raises `InputError` for numbers whose noises differ, and for quantiles.
    """
    _check_alike(results)
    each = 1.0 - _failure(inner_probability("confidence", confidence)) / len(results)
    noise, step = results[0].noise, results[0].noise_unit
    return float_above(Fraction(noise.quantile(each)) * Fraction(step))


# -- numbers that add up ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Consistent:
    """Counts that are not below 0 and add up to a total, in the order of the results.

    They are the closest such numbers to the released ones, in least squares. `values` go by the
    groups and cells as they are shown. `noise` is how far off all released ones are at most, at
    `confidence`.
    """

    values: dict[str, float]
    total: float
    noise: float
    confidence: float

    @property
    def error(self) -> float:
        """With a probability of at least `confidence` all numbers are off by at most this, at once.

        Twice the largest noise of the released numbers. It holds where the exact numbers add up to
        the total; the noise of a single number, as its result states it, does not hold any more.
        """
        return 2.0 * self.noise


def consistent(
    results: Sequence[NoisyNumber], words: Sequence[str], total: float, confidence: float
) -> Consistent:
    """The counts of one query, none below 0, that add up to the `total`, closest to those released.

    Raises `InputError` for a total below 0 and for what are not counts or histograms.
    """
    if any(result.kind not in ("count", "histogram") for result in results):
        raise InputError(
            "results",
            results[0].kind,
            expected="counts, or the cells of a histogram",
            remedy="Other numbers may be below 0.",
        )
    total = finite_number("total", total, expected="a number of rows", zero=True)
    noise = all_noise(results, confidence)
    values = _projected([result.value for result in results], total)
    return Consistent(dict(zip(words, values, strict=True)), total, noise, confidence)


def projected(results: Sequence[NoisyNumber], words: Sequence[str]) -> Consistent:
    """The closest numbers to estimates from perturbed answers that are not below 0, by `words`.

    They add up to the number of records, as the estimates do. The `noise` is how far off all
    estimates are at most, each at 95 % divided among them. Raises `InputError` for other results.
    """
    if not results or any(result.kind != RANDOMIZED_RESPONSE for result in results):
        raise InputError(
            "results",
            results[0].kind if results else None,
            expected="estimates from perturbed answers",
            remedy="Numbers with noise have consistent(total).",
        )
    confidence = 0.95
    each = 1.0 - _failure(confidence) / len(results)
    total = float(round(sum(Fraction(result.value) for result in results)))
    values = _projected([result.value for result in results], total)
    noise = max(result.error(each) for result in results)
    return Consistent(dict(zip(words, values, strict=True)), total, noise, confidence)


def _projected(values: Sequence[float], total: float) -> list[float]:
    """The closest point, in least squares, among those that are not below 0 and add up to `total`.

    All values are lowered by the same number, and negative ones are 0 then.
    """
    exact = [Fraction(value) for value in values]
    running, lowered = Fraction(0), Fraction(0)
    for many, value in enumerate(sorted(exact, reverse=True), start=1):
        running += value
        level = (running - Fraction(total)) / many
        if value > level or many == 1:
            lowered = level
    return [float(max(value - lowered, Fraction(0))) for value in exact]


# -- running sums ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Cumulative:
    """Running sums of the cells of a histogram, from 0 to a total, that never fall.

    `values` go by the cells as they are shown: the sum of the cells up to this one. With a
    probability of at least `confidence` all of them are off by at most `error`, at once.
    """

    values: dict[str, float]
    total: float
    error: float
    confidence: float


def cumulative(
    results: Sequence[NoisyNumber], words: Sequence[str], total: float, confidence: float
) -> Cumulative:
    """The running sums of a histogram's cells, closest to those of the released numbers.

    `results` are the cells in their order, `words` as they are shown, and `total` is what they add
    up to, which is public: the last sum is that, and its error is not counted. The sums are the
    non-decreasing ones that are closest to those of the released numbers in least squares, moved
    into the interval from 0 to `total`. Each of the two steps moves no sum further from the exact
    one than the worst released sum was (theory 4, "Running sums").

    Raises `InputError` for a total below 0 and for what is not a histogram.
    """
    _check_alike(results)
    if any(result.kind != "histogram" for result in results):
        raise InputError("results", results[0].kind, expected="the cells of a histogram")
    total = finite_number("total", total, expected="a number of rows", zero=True)
    allowed = _failure(inner_probability("confidence", confidence))
    sums = list(accumulate(Fraction(result.value) for result in results))[:-1]
    inside = [min(max(level, Fraction(0)), Fraction(total)) for level in _never_falling(sums)]
    values = [*map(float, inside), total]
    error = _running_error(results[0], len(sums), allowed)
    return Cumulative(dict(zip(words, values, strict=True)), total, error, confidence)


def _never_falling(values: Sequence[Fraction]) -> list[Fraction]:
    """The closest non-decreasing numbers in least squares: neighbours that fall are averaged."""
    pools: list[tuple[Fraction, int]] = []
    for value in values:
        total, many = value, 1
        while pools and pools[-1][0] * many >= total * pools[-1][1]:
            earlier, count = pools.pop()
            total, many = total + earlier, many + count
        pools.append((total, many))
    return [total / many for total, many in pools for _ in range(many)]


def _running_error(cell: NoisyNumber, sums: int, allowed: float) -> float:
    """A bound on all `sums` running sums of noise like that of `cell`.

    Some sum is beyond it with a probability of at most `allowed`. In the cell's unit. It is the
    least of two bounds: all noises within their errors; and Levy's inequality, by which the largest
    of the sums is beyond a bound at most twice as often as the last one, with Chernoff's bound for
    that.
    """
    if sums == 0:
        return 0.0
    noise, step = cell.noise, Fraction(cell.noise_unit)
    single = Fraction(noise.quantile(1.0 - allowed / sums)) * sums
    together = math.inf
    chance = math.log(4.0 / allowed)
    if isinstance(noise, DiscreteGaussian):
        together = noise.scale * math.sqrt(2.0 * sums * chance)
    elif isinstance(noise, DiscreteLaplace):
        shares = (i / 64.0 for i in range(1, 64))
        together = min(
            (sums * _log_moment(noise.scale, share) + chance) * noise.scale / share
            for share in shares
        )
    bound = min(float(single), together) * _OUTWARD
    return float_above(Fraction(bound) * step)


def _log_moment(scale: float, share: float) -> float:
    """The logarithm of `E e^(u X)` for discrete Laplace noise of this scale, at u = share / scale.

    With `a = e^(-1/scale)` it is `(1 - a)^2 / ((1 - a e^u) (1 - a e^-u))`.
    """
    stay = math.log(-math.expm1(-1.0 / scale))
    up = math.log(-math.expm1(-(1.0 - share) / scale))
    down = math.log(-math.expm1(-(1.0 + share) / scale))
    return 2.0 * stay - up - down


def _check_alike(results: Sequence[NoisyNumber]) -> None:
    for result in results:
        if result.kind not in RANKED:
            raise InputError(
                "results",
                result.kind,
                expected=f"results of kind {', '.join(RANKED)}",
                remedy="Other numbers have no noise of their own in one unit.",
            )
    if len({(result.query, result.noise.scale, result.noise_unit) for result in results}) != 1:
        raise InputError(
            "results",
            results[0].query if results else None,
            expected="numbers of one query that have the same noise",
            remedy="Averages over groups of different sizes have not: compare their errors.",
        )


def _failure(confidence: float) -> float:
    """The probability of being wrong that is left, rounded down."""
    return (1.0 - confidence) / _OUTWARD


__all__ = [
    "EXACT",
    "RANKED",
    "Consistent",
    "Cumulative",
    "Ratio",
    "all_noise",
    "consistent",
    "cumulative",
    "largest",
    "outward",
    "projected",
    "ratio",
    "separation",
]
