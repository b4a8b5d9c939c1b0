"""What a program of a study handed over: distributions and released numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from bayesdp.accounting.costs.rounded import up_words, value_words
from bayesdp.certificate import Certificate
from bayesdp.errors import UnsupportedError
from bayesdp.notebook import Figure


@dataclass(frozen=True, slots=True)
class ProgramAnswer:
    """What one program returned, in the order of its `return`.

    `outputs` are distributions, with `mean`, `interval(p)`, `samples(k)` and `figure()`, and
    released numbers; `types` is what the program's annotation calls them. With one output the
    answer has its methods itself. `releases` are the noisy values behind them, by name.

    A number that one release's noise was added to has the noise's `error`, like the result of any
    other query; a distribution has none, for its interval accounts for the noise if the program was
    `noise_aware`. `labels` are those of the piece of a partition that an output was made in,
    `cells` the names of a vector's entries, `units` those of the study's columns.

    Where a program failed after its cost had been debited, `failure` says so, and `outputs` are
    what it released until then (its `types` are "released"), with the same words last ("failure").
    """

    query: str
    program: str
    outputs: tuple[Any, ...]
    types: tuple[str, ...]
    dp_epsilon: float
    dp_rho: float = 0.0
    releases: Mapping[str, Any] = field(default_factory=dict)
    certificate: Certificate | None = None
    kind: str = "program"
    failure: str = ""
    labels: tuple[str, ...] = ()
    cells: tuple[tuple[str, ...], ...] = ()
    units: tuple[str, ...] = ()
    noises: tuple[Any, ...] = ()

    def __repr__(self) -> str:
        return f"ProgramAnswer({self})"

    def __str__(self) -> str:
        return "\n".join(f"{output.name}: {output.words()}" for output in self.each())

    @property
    def value(self) -> Any:
        """The only output, or a tuple of all outputs.

        Raises `UnsupportedError` where the program failed: its `releases` are what is left.
        """
        if self.failure:
            raise UnsupportedError(
                "value",
                self.query,
                expected="a program that came to its end",
                remedy=f"{self.failure} Look at .releases.",
            )
        return self.outputs[0] if len(self.outputs) == 1 else self.outputs

    @property
    def mean(self) -> Any:
        """The mean of the only output, a distribution. Raises `UnsupportedError` otherwise."""
        return self._distribution("mean").mean

    def interval(self, p: float = 0.95) -> Any:
        """The central interval of the only output, which holds it with probability p.

        Of a released number: what it would be without the noise lies there with probability p.
        Raises `UnsupportedError` for several outputs, and for a number without the noise of one
        release.
        """
        value = self.value
        if is_distribution(value):
            return value.interval(p)
        (output,) = self.each() if len(self.outputs) == 1 else (None,)
        error = None if output is None else output.error(p)
        if error is None:
            raise UnsupportedError(
                "interval",
                self.query,
                expected="one distribution, or one number with the noise of one release",
                remedy="Look at .outputs, one by one.",
            )
        if isinstance(error, tuple):
            return tuple(around(x, e) for x, e in zip(value, error, strict=True))
        return around(value, error)

    def samples(self, k: int) -> Any:
        """Draws of the only output, a distribution. Raises `UnsupportedError` otherwise."""
        return self._distribution("samples").samples(k)

    def figure(self, title: str = "") -> Figure:
        """The density of the only output, a distribution, as an SVG element.

        Raises `UnsupportedError` for another answer.
        """
        return Figure(self._distribution("figure").figure(title or self.query))

    def error(self, confidence: float = 0.95) -> Any:
        """The noise moves the number by more than this with probability at most 1 - confidence.

        A tuple for the entries of a vector, and for the outputs where there are several: None for
        what isn't a number with the noise of one release. Raises `UnsupportedError` where no output
        is such a number.
        """
        errors = tuple(output.error(confidence) for output in self.each())
        if all(error is None for error in errors):
            raise UnsupportedError(
                "error",
                confidence,
                expected="a number that one release's noise was added to",
                remedy="Use interval(p) of a distribution.",
            )
        return errors[0] if len(errors) == 1 else errors

    def each(self) -> list[Output]:
        """The outputs in order, each with its name, type, cells, unit and noise."""
        many = len(self.outputs)
        labels = self.labels if len(self.labels) == many else ("",) * many
        names = _names(self.query, labels)
        if self.failure:
            names[-1] = self.query
        details = (
            given if len(given) == many else (missing,) * many
            for given, missing in ((self.cells, ()), (self.units, ""), (self.noises, None))
        )
        rows = zip(names, self.types, self.outputs, *details, strict=True)
        return [Output(*row) for row in rows]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as in certificates and `--json`."""
        cost = {"dp_epsilon": self.dp_epsilon}
        if self.dp_rho > 0.0:
            cost["dp_rho"] = self.dp_rho
        outputs = [output.to_dict() for output in self.each()]
        for output, plain in zip(self.each(), outputs, strict=True):
            if output.name != self.query:
                plain["name"] = output.name
        return {
            "query": self.query,
            "kind": self.kind,
            "outputs": outputs,
            "releases": {name: _plain(value) for name, value in self.releases.items()},
            **cost,
        }

    def _distribution(self, method: str) -> Any:
        value = self.value
        if not is_distribution(value):
            raise UnsupportedError(
                method,
                self.query,
                expected="an answer that is one distribution",
                remedy="Look at .outputs.",
            )
        return value


class OutputRow(NamedTuple):
    """One number that a program returned, or the mean of a distribution. `cell` may be empty.

    `error` is that of the noise, where it is that of one release; `interval` holds 95 %.
    """

    cell: str
    value: Any
    error: Any
    interval: tuple[Any, Any]


@dataclass(frozen=True, slots=True)
class Output:
    """One output of a program, with its name, type, cells, unit and noise."""

    name: str
    type: str
    value: Any
    cells: tuple[str, ...] = ()
    unit: str = ""
    noise: Any = None

    def error(self, confidence: float = 0.95) -> Any:
        """The noise's error: a number, a tuple for the entries of a vector, or None."""
        if isinstance(self.noise, tuple):
            each = tuple(None if noise is None else noise.error(confidence) for noise in self.noise)
            return None if None in each else each
        return None if self.noise is None else self.noise.error(confidence)

    def spread_words(self, sign: str = "+-") -> str:
        """The 95 % interval of a distribution, or the noise's error at 95 %."""
        if is_distribution(self.value):
            return interval_words(self.value.interval(0.95))
        error = self.error(0.95)
        if error is None:
            return ""
        if not isinstance(error, tuple):
            return f"{sign} {up_words(error)}"
        if len(set(error)) == 1:
            return f"{sign} {up_words(error[0])} each"
        shown = ", ".join(f"{sign} {up_words(entry)}" for entry in error[:8])
        return f"{shown}{', ...' if len(error) > 8 else ''}"

    def shown(self) -> tuple[str, str]:
        """The value, or a distribution's mean, and its 95 % interval or error, in words."""
        if not is_distribution(self.value):
            return number_words(self.value, self.error(0.95)), self.spread_words()
        mean, interval = self.value.mean, self.value.interval(0.95)
        halves = [(high - low) / 2.0 for low, high in _pairs(interval)]
        return number_words(mean, halves[0] if len(halves) == 1 else halves), self.spread_words()

    def words(self) -> str:
        """The value, with its interval or its error, in words."""
        (value, spread), unit = self.shown(), f" {self.unit}" if self.unit else ""
        if is_distribution(self.value):
            return f"mean {value}{unit}, 95 % interval {spread}{unit}"
        return f"{value} {spread}{unit} (95 %)" if spread else f"{value}{unit}"

    def rows(self) -> list[OutputRow]:
        """A row for each number: the mean of a distribution, the entries of a vector."""
        value = self.value
        if is_distribution(value):
            means, intervals = value.mean, value.interval(0.95)
            if not isinstance(means, tuple):
                return [OutputRow("", means, None, intervals)]
            cells = self._cells(means, getattr(value, "names", ()))
            entries = zip(cells, means, intervals, strict=True)
            return [OutputRow(cell, mean, None, interval) for cell, mean, interval in entries]
        error = self.error(0.95)
        if not isinstance(value, tuple):
            number = isinstance(value, int | float)
            return [OutputRow("", value, error, around(value, error))] if number else []
        errors = error if error is not None else (None,) * len(value)
        entries = zip(self._cells(value), value, errors, strict=True)
        return [OutputRow(cell, x, e, around(x, e)) for cell, x, e in entries]

    def _cells(self, vector: Sequence[Any], names: Sequence[str] = ()) -> Sequence[str]:
        """The names of a vector's entries: the study's, the distribution's, or numbers from 1."""
        numbers = [str(place) for place in range(1, len(vector) + 1)]
        given = (self.cells, names, numbers)
        return next(cells for cells in given if len(cells) == len(vector))

    def to_dict(self) -> dict[str, Any]:
        """The output as plain data for JSON."""
        plain: dict[str, Any] = {"type": self.type, **plain_output(self.value)}
        if self.cells and not is_distribution(self.value):
            plain["cells"] = list(self.cells)
        if self.unit:
            plain["unit"] = self.unit
        error = self.error(0.95)
        if error is not None:
            plain["error"] = {"confidence": 0.95, "value": _plain(error)}
        return plain


def around(value: Any, error: Any) -> tuple[Any, Any]:
    """The interval from `value` minus `error` to `value` plus `error`; None without an error."""
    return (None, None) if error is None else (value - error, value + error)


def _names(query: str, labels: Sequence[str]) -> list[str]:
    if len(labels) == 1:
        return [query]
    names = []
    for i, label in enumerate(labels):
        if not label:
            names.append(f"{query}, {i + 1}")
        elif labels.count(label) == 1:
            names.append(f"{query}, {label}")
        else:
            names.append(f"{query}, {label}, {labels[: i + 1].count(label)}")
    return names


def is_distribution(value: object) -> bool:
    """Whether an output is a distribution, rather than a released number."""
    return hasattr(value, "interval") and hasattr(value, "mean")


def plain_output(value: Any) -> dict[str, Any]:
    """An output as plain data."""
    if hasattr(value, "to_dict"):
        plain: dict[str, Any] = value.to_dict()
        return plain
    return {"value": _plain(value)}


def _plain(value: Any) -> Any:
    if isinstance(value, bool | str | None):
        return value
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, Sequence):
        return [_plain(entry) for entry in value]
    return int(value) if isinstance(value, int) else float(value)


def _pairs(interval: Any) -> Any:
    """The intervals of a vector's entries, or the only one."""
    return interval if isinstance(interval[0], tuple) else (interval,)


def number_words(value: Any, error: Any = None) -> str:
    """A number in words, or the first of several, with the digits that their errors leave them."""
    plain = _plain(value)
    if isinstance(plain, dict):
        return "; ".join(f"{name}: {number_words(entry)}" for name, entry in plain.items())
    if isinstance(plain, list):
        errors = error if isinstance(error, Sequence) else [error] * len(plain)
        shown = ", ".join(map(number_words, plain[:8], errors))
        return f"({shown}{', ...' if len(plain) > 8 else ''})"
    if isinstance(plain, str):
        return plain
    if error is not None:
        return value_words(plain, error)
    return f"{plain:.6g}" if abs(plain) < 1000.0 else value_words(plain, 1.0)


def interval_words(interval: Any) -> str:
    """An interval in words, or those of a vector's entries."""
    if isinstance(interval[0], tuple):
        shown = ", ".join(interval_words(entry) for entry in interval[:8])
        return f"{shown}{', ...' if len(interval) > 8 else ''}"
    low, high = interval
    half = (high - low) / 2.0
    return f"{value_words(low, half)} to {value_words(high, half)}"
