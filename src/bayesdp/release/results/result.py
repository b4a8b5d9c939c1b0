"""What a release hands over: numbers with their errors, and the certificate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bayesdp import notebook
from bayesdp.accounting.costs.rounded import up_words, value_words
from bayesdp.certificate import Certificate
from bayesdp.errors import InputError, UnsupportedError, first_names, unknown_name
from bayesdp.numbers import float_above
from bayesdp.release.derived.correlations import Correlation, correlation
from bayesdp.release.derived.numbers import (
    Consistent,
    Cumulative,
    Ratio,
    consistent,
    cumulative,
    largest,
    projected,
    ratio,
    separation,
)
from bayesdp.release.price.noise import Noise, distribution_of
from bayesdp.release.programs.answers import ProgramAnswer
from bayesdp.release.queries.products import Design
from bayesdp.release.words import confidence_words
from bayesdp.statements.columns import CellKey, Value
from bayesdp.tables.refusals import counted

SHOWN = ("query", "group or cell", "value", "error or interval", "unit")


@dataclass(frozen=True, slots=True)
class Result:
    """One released number.

    `value` is in `unit`, the column's; it is empty for counts and where none is declared. `group`
    is the declared key of `by`, `cell` the cell of a histogram, each a tuple where it is told by
    several columns; `places` has both as they are shown, those of columns with `cuts` as intervals.
    `rows` is how many rows a mean or proportion is over, which is public. `noise` is the law in
    steps, each of length `noise_unit` in the value's unit. `columns` are those whose values it is
    of, and `design` those of a regression that it is a moment of. `rows_of` is the query's
    condition and its `by`, which say over which rows it is. The cost is `dp_epsilon` with
    Laplace noise and `dp_rho`, in zCDP, with Gaussian noise; the other one is 0. The error is that
    of the noise alone: clipping to the bounds may add more, and how much is private. It is shown at
    `confidence`, that of the query.
    """

    query: str
    kind: str
    value: float
    noise: Noise
    noise_unit: float
    dp_epsilon: float
    group: CellKey | None = None
    cell: CellKey | None = None
    unit: str = ""
    certificate: Certificate | None = None
    rows: int | None = None
    dp_rho: float = 0.0
    confidence: float = 0.95
    group_words: tuple[str, ...] = ()
    cell_words: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    design: Design | None = None
    rows_of: tuple[object, ...] = ()

    @property
    def places(self) -> tuple[str, ...]:
        """Its group and its cell as they are shown, as far as it has them: a text a column."""
        return tuple(words for _, words in self._named_places())

    def _named_places(self) -> tuple[tuple[Value, str], ...]:
        """The values that its group and its cell are told by, each with its words."""
        groups = _with_words(self.group, self.group_words)
        return (*groups, *_with_words(self.cell, self.cell_words))

    def __repr__(self) -> str:
        return f"Result({self})"

    def __str__(self) -> str:
        name = ", ".join([self.query, *self.places])
        return f"{name}: {self._words()} ({confidence_words(self.confidence)})"

    def _words(self) -> str:
        """The value with its error and its unit."""
        return f"{self.value_text()} {self.error_text()} {self.unit}".rstrip()

    def value_text(self) -> str:
        """The value with the digits that its error leaves it."""
        return value_words(self.value, self.error(self.confidence))

    def error_text(self) -> str:
        """The error at the query's confidence, rounded up."""
        return f"+- {up_words(self.error(self.confidence))}"

    def margin(self, confidence: float = 0.95) -> float | None:
        """The error of the value, in its unit; `None` for a quantile, whose error is private."""
        return self.error(confidence)

    def error(self, confidence: float = 0.95) -> float:
        """The noise moves the value by more than this with probability at most 1 - confidence.

        In the value's unit. Raises `InputError` unless `confidence` lies between 0 and 1.
        """
        return self.noise.quantile(confidence) * self.noise_unit

    def over(self, other: Result, confidence: float = 0.95) -> Ratio:
        """The ratio of this number to another released one, with an interval; at no cost.

        The exact ratio is in the interval with a probability of at least `confidence`, over the
        noise of both numbers. A sum over a count is the mean of rows that match a private
        condition. Raises `InputError` where `other` may be 0, and for variances and quantiles.
        Source: theory 4, "Ratios".
        """
        return ratio(self, other, confidence)

    def correlation(self, first: Result, second: Result, confidence: float = 0.95) -> Correlation:
        """The correlation that this covariance and two variances give; at no cost.

        `first` and `second` are the released variances of both columns, over the same rows. That of
        the exact numbers is in the interval with a probability of at least `confidence`. Raises
        `InputError` for other results. Source: theory 4, "Correlations".
        """
        return correlation(self, first, second, confidence)

    def _plain_error(self) -> dict[str, Any]:
        error = self.error(self.confidence)
        return {"error": {"confidence": self.confidence, "value": error}}

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as in certificates and `--json`."""
        named: dict[str, Any] = {"query": self.query, "kind": self.kind}
        if self.group is not None:
            named["group"] = _plain_place(self.group)
        if self.cell is not None:
            named["cell"] = _plain_place(self.cell)
        if self.rows is not None:
            named["rows"] = self.rows
        cost = {"dp_rho": self.dp_rho} if self.dp_rho > 0.0 else {"dp_epsilon": self.dp_epsilon}
        return named | {
            "value": self.value,
            "unit": self.unit,
            **self._plain_error(),
            "noise": {
                "distribution": distribution_of(self.noise),
                "scale": self.noise.scale,
                "step": self.noise_unit,
            },
            **cost,
        }


@dataclass(frozen=True, slots=True)
class QuantileResult(Result):
    """A released quantile: one of the query's candidates, in the column's unit.

    Its error is that of its rank, `rank_error`, in rows: how far the answer is off in the column's
    unit depends on how close together the values lie, which is private. `step` is the exact length
    of a step of the ranks' scores, in rows. Of a column with `cuts` the value is the number of a
    state, and `interval` what the state contains. There is no posterior of it.
    """

    step: Fraction = Fraction(1)
    interval: str = ""

    def rank_error(self, confidence: float = 0.95) -> float:
        """How many rows the rank of the answer is off, at most, with this probability; rounded up.

        With a probability of at least `confidence` the answer is the candidate nearest to a
        `q`-quantile of the values, where `q N` differs from the probability times `N`, the number
        of rows that count, by at most so many rows. Raises `InputError` unless `confidence` lies
        between 0 and 1. Source: theory 4, "Quantiles".
        """
        return float_above(self.noise.quantile(confidence) * self.step)

    def error(self, confidence: float = 0.95) -> float:
        """Refused with `UnsupportedError`: the error of the value is private."""
        raise UnsupportedError(
            f"release[{self.query!r}].error",
            expected="a number: how far a quantile's value is off depends on private values",
            remedy="Use rank_error(confidence): how many rows its rank is off.",
            shown=False,
        )

    def margin(self, confidence: float = 0.95) -> float | None:
        """None: the error of the value is private."""
        return None

    def value_text(self) -> str:
        """The value, which is one of the candidates, with all its digits; or its interval."""
        return self.interval or f"{self.value!r}".removesuffix(".0")

    def error_text(self) -> str:
        """The error of the rank at the query's confidence, rounded up."""
        return f"+- {up_words(self.rank_error(self.confidence))} ranks"

    def _words(self) -> str:
        """The value with its unit, and the error of its rank."""
        return f"{self.value_text()} {self.unit}".rstrip() + f" {self.error_text()}"

    def _plain_error(self) -> dict[str, Any]:
        rows = self.rank_error(self.confidence)
        return {"rank_error": {"confidence": self.confidence, "rows": rows}}


class ResultList(list[Result]):
    """The results of a query with groups or cells, in the order in which they were declared.

    A result is found by the name of its group or cell, `results["child"]`, or by its position,
    `results[0]`, unless groups or cells are numbers: then a number is always a name. Raises
    `UnknownNameError`, a `KeyError`, for names and positions that there aren't. What a single
    result has (`value`, `error`) is refused with the names that there are. `named` is the group
    that all of them are of, if one was named.
    """

    def __init__(self, results: Iterable[Result] = (), named: Sequence[object] = ()) -> None:
        super().__init__(results)
        self.named = tuple(named)

    def __getitem__(self, name: Any) -> Any:
        """The result of this group or cell, or at this position."""
        if isinstance(name, slice) or (isinstance(name, int) and self._has_position(name)):
            return super().__getitem__(name)
        parts = name if isinstance(name, tuple) else (name,)
        return result_at(self, (*self.named, *parts))

    def _has_position(self, number: int) -> bool:
        """Whether a number is a position here: no name is one, and there are so many results."""
        named = [_places(result)[len(self.named) :] for result in self]
        numbers = any(places and not isinstance(places[0][0], str) for places in named)
        return not numbers and -len(self) <= number < len(self)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not self or not hasattr(next(iter(self)), name):
            raise AttributeError(f"a list of results has no attribute '{name}'")
        first = next(iter(self))
        query = first.query
        known = first_names([_place_words(result) for result in self])
        raise AttributeError(
            f"release[{query!r}] has {counted(len(self), 'result', 'results')}, each with its "
            f"'{name}': name one of them. Known: {known}. For "
            f"example release[{', '.join(map(repr, (query, *first.places)))}]."
        )

    def errors(self, confidence: float = 0.95) -> dict[str, float]:
        """The error of each result at this confidence, by its group and cell as they are shown.

        In the results' unit. Raises `InputError` unless `confidence` lies between 0 and 1.
        """
        return {_place_words(result): result.error(confidence) for result in self}

    def largest(self, count: int) -> ResultList:
        """The `count` largest of the numbers, the largest first; at no cost.

        Which ones are chosen depends on the noise: they are more often too large than too small,
        and `separation` says how much larger one that is left out may be. Raises `InputError` for a
        count that is not from 1 to how many there are, and for quantiles.
        """
        return ResultList(largest(list(self), count), self.named)

    def separation(self, confidence: float = 0.95) -> float:
        """How much larger a number may be than one that was released as larger, of all of these.

        With a probability of at least `confidence`, for all pairs at once; in the results' unit,
        rounded up. Raises `InputError` for quantiles and averages of groups of different sizes.
        """
        return separation(list(self), confidence)

    def consistent(self, total: float, confidence: float = 0.95) -> Consistent:
        """Counts, none below 0, that add up to the `total` and are closest to these; at no cost.

        The total is public, as the number of rows is: its error is not counted. Raises `InputError`
        for what are not counts or histograms.
        """
        words = [_place_words(result) for result in self]
        return consistent(list(self), words, total, confidence)

    def projected(self) -> Consistent:
        """Numbers of holders of each state that can all be true, closest to these; at no cost.

        Of perturbed answers: estimates are unbiased, but may be below 0. These are not unbiased,
        and add up to the number of records. Raises `InputError` for other results.
        """
        return projected(list(self), [_place_words(result) for result in self])

    def cumulative(self, total: float, confidence: float = 0.95) -> Cumulative:
        """Running sums of a histogram's cells, from 0 to the `total`, that never fall; at no cost.

        The cells are taken in their order, and the total is public, as for `consistent`. Raises
        `InputError` for what is not a histogram.
        """
        words = [_place_words(result) for result in self]
        return cumulative(list(self), words, total, confidence)

    def _repr_html_(self) -> str:
        """The table that a notebook shows."""
        title = next(iter(self)).query if self else ""
        return notebook.table(title, SHOWN, map(shown_row, self))


def _with_words(place: CellKey | None, words: tuple[str, ...]) -> tuple[tuple[Value, str], ...]:
    """The values of a group or cell, each with its words; by itself where it has none."""
    if place is None:
        return ()
    values = place if isinstance(place, tuple) else (place,)
    return tuple(zip(values, words or map(str, values), strict=True))


def place_text(place: CellKey | None, words: tuple[str, ...]) -> str | None:
    """A group or cell in words; `None` where there is none."""
    return None if place is None else ", ".join(word for _, word in _with_words(place, words))


def _plain_place(place: CellKey) -> Value | list[Value]:
    """A group or cell as certificates have it: of several columns a list."""
    return list(place) if isinstance(place, tuple) else place


def _places(result: Result | ProgramAnswer) -> tuple[tuple[Any, str], ...]:
    """The values that a result's group and cell are told by, each with its words."""
    return () if isinstance(result, ProgramAnswer) else result._named_places()


def _place_words(result: Result | ProgramAnswer) -> str:
    """A result's group and cell, as they are shown."""
    return ", ".join(words for _, words in _places(result))


def result_at(results: Sequence[Any], parts: Sequence[object]) -> Any:
    """The result, of these `results`, whose group and cell the `parts` name; or all such in a list.

    Raises `InputError` for a name that none of them has, and for more names than they have.
    """
    for position, part in enumerate(parts):
        where = f"release[{next(iter(results)).query!r}]"
        there = [_places(result)[position : position + 1] for result in results]
        if not all(there):
            alone = "no name but the query's, which has no groups or cells"
            raise InputError(
                where, part, expected=f"no more than {position + 1} names" if position else alone
            )
        named = [r for r, (at,) in zip(results, there, strict=True) if _is_place(*at, part)]
        if not named:
            raise unknown_name(where, part, [words for ((_, words),) in there])
        results = named
    first = next(iter(results))
    return ResultList(results, parts) if len(_places(first)) > len(parts) else first


def _is_place(place: object, words: str, name: object) -> bool:
    """Whether a group or cell is meant: by its value, or by the text that is shown."""
    return name in (str(place), words) if isinstance(name, str) else place == name


def shown_row(result: Result) -> tuple[object, ...]:
    """A result's row in a notebook."""
    shown = f"{result.error_text()} ({confidence_words(result.confidence)})"
    return result.query, _place_words(result), result.value_text(), shown, result.unit
