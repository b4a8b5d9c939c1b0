"""What a study's `[[derived]]` gives: computed from released numbers only, at no cost.

It stands on no certificate, and a reader can compute it again from the numbers that do.

**Numbers that add up.** Let counts `t_i >= 0` add up to `N`, and let the released ones be off by at
most `e` each. The closest point `p` with `p_i >= 0` and `sum p_i = N` is `p_i = max(t_i + n_i - c,
0)` for the `c` that makes them add up. At `c = e` no term is above `t_i`, at `c = -e` none below,
so `|c| <= e` and `|p_i - t_i| <= |n_i - c| <= 2 e`. ∎ With m numbers `e` is the error at `1 - beta
/ m`.

**Running sums.** Let the cells `t_1, ..., t_m` of a histogram add up to the public `N`, with
released cells `t_i + n_i`. The exact running sums `T_k` never fall and lie from 0 to `N`; the
released ones are off by `S_k = n_1 + ... + n_k`, for `k < m`. The closest numbers that never fall
are `p_k = max over j <= k of min over l >= k` of the average of the released sums from `j` to `l`.
Each such average moves by at most `c` if every sum does, and so do their largest and least; the
exact sums are their own closest ones. So `p` is off by at most `max |S_k|`, and moving it into `[0,
N]`, where `T` lies, brings no number further off. ∎ For symmetric independent noises
`P[max |S_k| >= z] <= 2 P[|S_{m-1}| >= z]` (Levy's inequality), and `P[|S_{m-1}| >= z] <= 2
M(u)^(m-1) e^(-u z)` for every `u > 0` (Chernoff), where `M(u) = E e^(u n_1)`: of discrete Laplace
noise with `a = e^(-1/b)` it is `(1 - a)^2 / ((1 - a e^u) (1 - a e^-u))` for `u < 1/b`, of Gaussian
noise at most `e^(u^2 sigma^2 / 2)`, as for ratios.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR
from typing import Any, Protocol, cast

from bayesdp.accounting.costs.rounded import up_words, value_words
from bayesdp.errors import InputError, inner_probability
from bayesdp.release.derived.numbers import (
    NoisyNumber,
    all_noise,
    consistent,
    cumulative,
    largest,
    outward,
    ratio,
)
from bayesdp.release.derived.sampling import sampling_interval
from bayesdp.release.spec.derived import DerivedSpec
from bayesdp.statements.columns import CellKey


class PlacedNumber(NoisyNumber, Protocol):
    """A released number with its group and cell: see `Result`."""

    @property
    def group(self) -> CellKey | None:
        """The group that it is of."""

    @property
    def cell(self) -> CellKey | None:
        """The cell of a histogram that it is."""

    @property
    def places(self) -> tuple[str, ...]:
        """Its group and cell as they are shown."""

    @property
    def rows(self) -> int | None:
        """How many rows an average is over."""

    def value_text(self) -> str:
        """Its value as it is shown."""

    @property
    def unit(self) -> str:
        """Its unit."""


class RankedNumber(PlacedNumber, Protocol):
    """A released quantile: see `QuantileResult`."""

    def rank_error(self, confidence: float) -> float:
        """How many rows its rank is off at most, with this probability."""


@dataclass(frozen=True, slots=True)
class DerivedNumber:
    """A number that was computed from released ones. The exact one lies from `low` to `high`.

    `place` is its group and cell as they are shown, empty where it has none. All three numbers are
    `None`, and `reason` says why, where no interval holds: a ratio whose denominator may be 0, and
    what is beyond the largest double. A quantile is shown as `text`, and has the error of its rank
    in rows, `ranks`, and no interval.
    """

    place: str
    value: float | None
    low: float | None
    high: float | None
    reason: str = ""
    text: str = ""
    ranks: float | None = None

    def words(self) -> tuple[str, str]:
        """The value, and its interval, with the digits that this leaves; or why there are none."""
        if self.ranks is not None:
            return self.text, f"+- {up_words(self.ranks)} ranks"
        if self.value is None or self.low is None or self.high is None:
            return "not known", self.reason
        error = max(self.high - self.value, self.value - self.low)
        low, high = outward(self.low, ROUND_FLOOR), outward(self.high, ROUND_CEILING)
        return value_words(self.value, error), f"{low} to {high}"


@dataclass(frozen=True)
class Derived:
    """What one `[[derived]]` of a study gives, from the released numbers behind it.

    Iterating gives its numbers, with intervals at the confidence of the study file. Of a ratio each
    interval holds with the confidence; of all other kinds they hold at once. `certificate` is that
    of the release: it covers the numbers behind it, which this is computed from.
    """

    spec: DerivedSpec
    sources: tuple[tuple[PlacedNumber, ...], ...]
    total: float | None
    unit: str

    @property
    def name(self) -> str:
        """Its name in the study."""
        return self.spec.name

    @property
    def numbers(self) -> list[DerivedNumber]:
        """The numbers at the confidence of the study."""
        return self.at(self.spec.confidence)

    def at(self, confidence: float) -> list[DerivedNumber]:
        """The numbers with intervals that hold with this probability.

        Raises `InputError` unless `confidence` lies between 0 and 1.
        """
        return [_finite(number) for number in _COMPUTED[self.spec.kind](self, confidence)]

    def __iter__(self) -> Any:
        return iter(self.numbers)

    def __len__(self) -> int:
        return len(self.numbers)

    def __str__(self) -> str:
        return "\n".join(
            f"{', '.join(filter(None, [name, place]))}: {f'{value} {unit}'.rstrip()}, {interval}"
            for name, place, value, interval, unit in self.rows()
        )

    def rows(self) -> list[tuple[str, str, str, str, str]]:
        """Name, place, value, interval and unit of each number, as they are shown."""
        return [
            (self.name, number.place, value, shown, self.unit)
            for number in self.numbers
            for value, interval in [number.words()]
            for shown in [interval if number.reason else f"{interval} ({self.percent})"]
        ]

    @property
    def percent(self) -> str:
        """The confidence of its intervals in words, and whether they hold at once."""
        if self.spec.kind == "sampling":
            return f"about {100.0 * self.spec.confidence:g} %, sampling included"
        at_once = "" if self.spec.kind == "ratio" else ", all at once"
        return f"{100.0 * self.spec.confidence:g} %{at_once}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `bayesdp release --json` prints it."""
        return {
            "name": self.name,
            "kind": self.spec.kind,
            "from": list(self.spec.sources),
            "unit": self.unit,
            "confidence": self.spec.confidence,
            **({} if self.total is None else {"total": self.total}),
            "numbers": [
                {
                    **({"place": number.place} if number.place else {}),
                    "value": number.value,
                    "low": number.low,
                    "high": number.high,
                    **({} if number.ranks is None else {"rank_error": number.ranks}),
                    **({"reason": number.reason} if number.reason else {}),
                }
                for number in self.numbers
            ],
        }


def derived_from(
    specs: Sequence[DerivedSpec], results: Sequence[PlacedNumber], rows: int
) -> tuple[Derived, ...]:
    """What the study asks to derive from its released numbers. `rows` is the number of records."""
    by_query: dict[str, list[PlacedNumber]] = {}
    for result in results:
        by_query.setdefault(result.query, []).append(result)
    made = []
    for spec in specs:
        sources = tuple(tuple(by_query[name]) for name in spec.sources)
        counts = spec.kind in ("consistent", "cumulative", "sampling")
        total = float(rows if spec.total is None else spec.total) if counts else None
        unit = _unit(sources) if spec.kind == "ratio" else sources[0][0].unit
        made.append(Derived(spec, sources, total, unit))
    return tuple(made)


def _unit(sources: Sequence[Sequence[PlacedNumber]]) -> str:
    """The unit of a ratio."""
    over, under = (numbers[0].unit for numbers in sources)
    if not under:
        return over
    return "" if over == under else f"{over or '1'}/{under}"


def _words(number: PlacedNumber) -> str:
    return ", ".join(number.places)


def _ratios(derived: Derived, confidence: float) -> list[DerivedNumber]:
    over, under = derived.sources
    below: Mapping[Any, PlacedNumber] = {(r.group, r.cell): r for r in under}
    made = []
    for top in over:
        bottom = under[0] if len(under) == 1 else below[top.group, top.cell]
        try:
            share = ratio(top, bottom, confidence)
        except InputError as error:
            if error.key != "denominator":
                raise
            reason = "The denominator may be 0: its noise is as large as it is."
            made.append(DerivedNumber(_words(top), None, None, None, reason))
        else:
            made.append(DerivedNumber(_words(top), share.value, share.low, share.high))
    return made


def _largest(derived: Derived, confidence: float) -> list[DerivedNumber]:
    """Their intervals hold although they were chosen: those of all numbers do so at once."""
    numbers = derived.sources[0]
    assert derived.spec.count is not None
    error = all_noise(numbers, confidence)
    return [
        DerivedNumber(_words(number), number.value, *_ends(number.value, error))
        for number in largest(numbers, derived.spec.count)
    ]


def _consistent(derived: Derived, confidence: float) -> list[DerivedNumber]:
    numbers, total = derived.sources[0], derived.total or 0.0
    made = consistent(numbers, list(map(_words, numbers)), total, confidence)
    return _within(made.values, made.error, total)


def _cumulative(derived: Derived, confidence: float) -> list[DerivedNumber]:
    numbers, total = derived.sources[0], derived.total or 0.0
    made = cumulative(numbers, list(map(_words, numbers)), total, confidence)
    *before, last = _within(made.values, made.error, total)
    return [*before, DerivedNumber(last.place, total, total, total)]


def _quantiles(derived: Derived, confidence: float) -> list[DerivedNumber]:
    """The quantiles of each group, put in order.

    If each rank is off by at most e, then so it is in order: the candidates that a quantile may be
    then go from one to another, both of which only rise with the probability (theory 4).
    """
    ranked = [[cast(RankedNumber, number) for number in numbers] for numbers in derived.sources]
    each = math.nextafter(
        1.0 - (1.0 - inner_probability("confidence", confidence)) / sum(map(len, ranked)), 1.0
    )
    error = max(number.rank_error(each) for numbers in ranked for number in numbers)
    made = []
    for group in zip(*ranked, strict=True):
        rising = sorted(group, key=lambda number: number.value)
        for name, number in zip(derived.spec.sources, rising, strict=True):
            place = ", ".join([name, *number.places])
            text = number.value_text()
            made.append(DerivedNumber(place, number.value, None, None, "", text, error))
    return made


def _sampled(derived: Derived, confidence: float) -> list[DerivedNumber]:
    """Each number with noise and sampling error; of a count in groups, whose sizes are private."""
    numbers, *spreads = derived.sources
    made = []
    for place, number in enumerate(numbers):
        rows = number.rows
        if number.kind == "count" and number.group is None and derived.total is not None:
            rows = int(derived.total)
        low, high = sampling_interval(
            number,
            confidence,
            rows=rows,
            effect=derived.spec.design_effect or 1.0,
            spread=spreads[0][place] if spreads else None,
        )
        made.append(DerivedNumber(_words(number), number.value, low, high))
    return made


def _within(values: Mapping[str, float], error: float, total: float) -> list[DerivedNumber]:
    """Counts give or take their error, which are never below 0 and never above the total."""
    made = []
    for place, value in values.items():
        low, high = _ends(value, error)
        made.append(DerivedNumber(place, value, max(low, 0.0), min(high, total)))
    return made


def _finite(number: DerivedNumber) -> DerivedNumber:
    """The number, or that it is not known where it or an end of its interval is not a double."""
    known = [part for part in (number.value, number.low, number.high) if part is not None]
    if all(map(math.isfinite, known)):
        return number
    reason = "It is beyond the largest double: declare the columns in other units."
    return DerivedNumber(number.place, None, None, None, reason)


def _ends(value: float, error: float) -> tuple[float, float]:
    """A value give or take its error, rounded outward."""
    return math.nextafter(value - error, -math.inf), math.nextafter(value + error, math.inf)


_COMPUTED: Mapping[str, Callable[[Derived, float], list[DerivedNumber]]] = {
    "ratio": _ratios,
    "largest": _largest,
    "consistent": _consistent,
    "cumulative": _cumulative,
    "quantiles": _quantiles,
    "sampling": _sampled,
}
