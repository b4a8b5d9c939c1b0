"""Sums over the true statistics that noise hides: exact posteriors for counts.

The released count is y = c + noise; the true c is summed out. Windows of c hold all but e^-45 of
the largest term, found by widening until both ends are that low.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesdp.errors import InputError

if TYPE_CHECKING:
    from bayesdp.arrays import Floats, Ints

    LogTotal = Callable[[Floats], Floats]
    """The logarithm of the weight of a total."""

DROP = 45.0
TINY = 1e-22


@dataclass(frozen=True)
class AddedNoise:
    """The law of the noise in the value's unit: "laplace" (scale b) or "gaussian" (sigma).

    On a grid the normaliser is the same for every true value on it, so the exponent is all.
    """

    kind: str
    scale: float

    def log(self, z: Any) -> Any:
        """The exponent of the law at `z`: its log-density up to a constant."""
        if self.kind == "laplace":
            return -np.abs(z) / self.scale
        return -0.5 * (np.asarray(z) / self.scale) ** 2

    @property
    def variance(self) -> float:
        """The variance of the continuous law."""
        return (2.0 if self.kind == "laplace" else 1.0) * self.scale * self.scale


def window(
    log_weight: Callable[[Ints], Floats], start: float, low: int, high: int | None
) -> tuple[Ints, Floats]:
    """The whole numbers between low and high with any weight, and their log-weights.

    Raises `InputError` where none has any: what was released can't come from this model.
    """
    top = high if high is not None else 2**62
    left = right = _likely(log_weight, round(min(max(start, low), top)), low, top)
    reach = 64
    left, right = max(left - reach, low), min(right + reach, top)
    while True:
        c = np.arange(left, right + 1, dtype=np.int64)
        logs = np.nan_to_num(log_weight(c), nan=-np.inf, posinf=np.inf, neginf=-np.inf)
        peak = logs.max()
        if not np.isfinite(peak):
            raise InputError(
                "noise_aware",
                start,
                expected="a released value that this model can have given",
                remedy="Look at the likelihood and the prior: they exclude what was released.",
            )
        more_left = left > low and logs[0] > peak - DROP
        more_right = right < top and logs[-1] > peak - DROP
        if not (more_left or more_right) or right - left > 2**23:
            # The peak is kept also where doubles hold no difference of DROP to it.
            weighty_places = np.flatnonzero(logs >= peak - DROP)
            first, last = weighty_places[0], weighty_places[-1] + 1
            return c[first:last], logs[first:last]
        reach *= 2
        left = max(left - reach, low) if more_left else left
        right = min(right + reach, top) if more_right else right


def _likely(log_weight: Callable[[Ints], Floats], start: int, low: int, top: int) -> int:
    """A whole number near the peak: huge noise puts what was released far away from it."""
    steps = 2 ** np.arange(62)
    for _ in range(64):
        c = np.concatenate(([start, low], start - steps, start + steps, low + steps))
        c = np.clip(c, low, top)
        logs = np.nan_to_num(log_weight(c), nan=-np.inf, posinf=np.inf, neginf=-np.inf)
        best = int(np.argmax(logs))
        if not logs[best] > logs[0]:
            break
        start = int(c[best])
    return start


MOST_PAIRS = 2**25
"""The most pairs (the count of a cell, the count of all others) that are summed."""


def require_pairs(noise: AddedNoise, many: int) -> None:
    """Refuse a table of `many` cells with a private total that would take too many sums.

    Only the noise's scale decides, so it is known before anything is spent. Raises `InputError`.
    """
    reach = DROP if noise.kind == "laplace" else (2 * DROP) ** 0.5
    if (2 * reach * noise.scale) * (2 * reach * noise.scale) * (many - 1) ** 0.5 > MOST_PAIRS:
        raise InputError(
            "epsilon",
            expected="for noise_aware of counts with a private total, noise of a scale below "
            f"{int((MOST_PAIRS / (many - 1) ** 0.5) ** 0.5 / (2 * reach))}",
            remedy="Spend more on this release, use plug_in, or make the total public.",
            shown=False,
        )


@dataclass(frozen=True, eq=False)
class TrueCounts:
    """The posterior of the true counts of a table: each cell's values, and their weights."""

    values: tuple[Ints, ...]
    weights: tuple[Floats, ...]
    n: int | None
    tails: tuple[CountLaw, ...]
    """tails[j]: the tilted law of the sum of the cells from j on."""
    tilted: tuple[CountLaw, ...]
    total: CountLaw
    """The law of the total: a single point where n is public."""
    others: tuple[CountLaw, ...]
    """The tilted law of the sum of all cells but one."""
    log_total: Callable[[Floats], Floats]

    def pairs(self, j: int) -> tuple[Ints, Floats]:
        """With a private total: the others' sums, and the log-weight of each (cell, others)."""
        law, others = self.tilted[j], self.others[j]
        both = law.support[:, None] + others.support[None, :]
        with np.errstate(divide="ignore"):
            logs = np.log(law.mass)[:, None] + np.log(others.mass)[None, :]
        return others.support, logs + self.log_total(both.astype(np.float64))

    def draw(self, k: int, rng: np.random.Generator) -> Ints:
        """`k` tables of counts from the posterior, each cell drawn given the earlier cells."""
        tables = np.empty((k, len(self.values)), dtype=np.int64)
        totals = rng.choice(self.total.support, size=k, p=self.total.mass)
        for row, total in enumerate(totals.tolist()):
            left = int(total)
            for j, law in enumerate(self.tilted[:-1]):
                weight = law.mass * self.tails[j + 1].at(left - law.support)
                count = int(rng.choice(law.support, p=weight / weight.sum()))
                tables[row, j] = count
                left -= count
            tables[row, -1] = left
        return tables


@dataclass(frozen=True, eq=False)
class CountLaw:
    """Masses on consecutive whole numbers."""

    first: int
    mass: Floats

    @property
    def support(self) -> Ints:
        """The numbers that have a mass."""
        return np.arange(self.first, self.first + len(self.mass), dtype=np.int64)

    def at(self, where: Ints) -> Floats:
        """The masses of the numbers `where`."""
        place = where - self.first
        inside = (place >= 0) & (place < len(self.mass))
        return np.where(inside, self.mass[np.clip(place, 0, len(self.mass) - 1)], 0.0)


def cells(y: Sequence[float], noise: AddedNoise, alpha: Floats, n: int | None) -> TrueCounts:
    """The true counts given noisy ones, under a Dirichlet-multinomial law with prior `alpha`.

    Given their total m the counts have weight m!/Gamma(A + m) times the product over cells of
    Gamma(alpha_j + c_j)/c_j!, times each cell's noise law. With a public total the sum over all
    tables is a convolution, exact up to rounding. Without one the total has a flat prior, so its
    weight is that factor. Cells are tilted by e^(lambda c), which changes nothing given the total
    and puts it in the middle of the convolution.
    """
    from scipy.special import gammaln

    def log_cell(j: int, rate: float) -> Callable[[Ints], Floats]:
        def weight(c: Ints) -> Floats:
            logs = gammaln(alpha[j] + c) - gammaln(c + 1.0) + noise.log(y[j] - c) + rate * c
            return np.asarray(logs)

        return weight

    def laws(rate: float) -> list[CountLaw]:
        made = []
        for j in range(len(y)):
            # Where the noise hides everything this is infinite: the window starts at an end.
            shift = rate * noise.variance if noise.kind == "gaussian" and rate else 0.0
            support, logs = window(log_cell(j, rate), max(y[j] + shift, 0.0), 0, n)
            mass = np.exp(logs - logs.max())
            made.append(CountLaw(int(support[0]), mass / mass.sum()))
        return made

    size = float(alpha.sum())

    def log_total(m: Floats) -> Floats:
        return np.asarray(gammaln(m + 1.0) - gammaln(size + m))

    tilted = laws(0.0 if n is None else _tilt(laws, n))
    tails = _tails(tilted)
    rests = _of_the_others(tilted, tails)
    return TrueCounts(
        tuple(law.support for law in tilted),
        tuple(
            _given_total(law, others, n, log_total)
            for law, others in zip(tilted, rests, strict=True)
        ),
        n,
        tuple(tails),
        tuple(tilted),
        _total(tails[0], n, log_total),
        rests,
        log_total,
    )


def _of_the_others(laws: list[CountLaw], tails: list[CountLaw]) -> tuple[CountLaw, ...]:
    """For each cell the law of the sum of all other cells."""
    sums, before = [], CountLaw(0, np.ones(1))
    for j, law in enumerate(laws):
        sums.append(convolved(before, tails[j + 1]))
        before = convolved(before, law)
    return tuple(sums)


def _given_total(law: CountLaw, others: CountLaw, n: int | None, log_total: LogTotal) -> Floats:
    """The masses of a cell's count, given that all cells add up to n or to a total of its law."""
    if n is not None:
        weight = law.mass * others.at(n - law.support)
    else:
        count = len(law.mass) + len(others.mass) - 1
        totals = law.first + others.first + np.arange(count)
        logs = log_total(totals.astype(np.float64))
        weight = law.mass * np.correlate(np.exp(logs - logs.max()), others.mass, "valid")
    return np.asarray(weight / weight.sum())


def _total(whole: CountLaw, n: int | None, log_total: LogTotal) -> CountLaw:
    """The law of the total: n, or that of the sum of all cells, weighted."""
    if n is not None:
        return CountLaw(n, np.ones(1))
    logs = log_total(whole.support.astype(np.float64))
    mass = whole.mass * np.exp(logs - logs.max())
    return CountLaw(whole.first, mass / mass.sum())


def _tilt(laws: Callable[[float], list[CountLaw]], n: int) -> float:
    """The rate at which the tilted means add up to about n."""

    def excess(rate: float) -> tuple[float, float]:
        tilted = laws(rate)
        means = [float(law.mass @ law.support) for law in tilted]
        spread = sum(
            float(law.mass @ (law.support - mean) ** 2)
            for law, mean in zip(tilted, means, strict=True)
        )
        return sum(means) - n, spread

    gap, spread = excess(0.0)
    step, before = 1e-6, 0.0
    while True:
        if abs(gap) <= 0.05 * np.sqrt(spread) + 0.5 or step > 1e3:
            return before
        rate = -float(np.sign(gap)) * step
        new, spread = excess(rate)
        if new * gap < 0:
            low, high = sorted((before, rate))
            break
        gap, before, step = new, rate, step * 2
    for _ in range(60):
        middle = (low + high) / 2
        gap, spread = excess(middle)
        if abs(gap) <= 0.05 * np.sqrt(spread) + 0.5:
            return middle
        low, high = (low, middle) if gap > 0 else (middle, high)
    return (low + high) / 2


def _tails(laws: Sequence[CountLaw]) -> list[CountLaw]:
    tails = [CountLaw(0, np.ones(1))]
    for law in reversed(laws):
        tails.append(convolved(law, tails[-1]))
    return tails[::-1]


def convolved(a: CountLaw, b: CountLaw) -> CountLaw:
    """The law of a sum of two independent numbers."""
    from scipy.signal import fftconvolve

    if min(len(a.mass), len(b.mass)) < 400:
        mass = np.convolve(a.mass, b.mass)
    else:
        mass = np.maximum(fftconvolve(a.mass, b.mass), 0.0)
    weighty_places = np.flatnonzero(mass > TINY * mass.max())
    first, last = int(weighty_places[0]), int(weighty_places[-1]) + 1
    cut = mass[first:last]
    return CountLaw(a.first + b.first + first, cut / cut.sum())
