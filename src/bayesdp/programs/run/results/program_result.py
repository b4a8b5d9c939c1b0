"""What a program returned: distributions and released numbers, and the releases behind them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from sys import float_info
from types import MappingProxyType
from typing import Any

from bayesdp.errors import InputError
from bayesdp.notebook import Figure
from bayesdp.numbers import up_words
from bayesdp.programs.run.results.distributions import Distribution


@dataclass(frozen=True, eq=False)
class ProgramResult:
    """The outputs of one run, in the order of the program's `return`.

    An output is a distribution (`mean`, `sd`, `interval(p)`, `quantile(p)`, `samples(k)`,
    `figure()`), a number, a truth value, a label, a tuple of numbers or a list of noisy answers.
    Whole numbers are ints, other numbers the nearest floats; `exact` has them as fractions.
    `releases` are the noisy values by name. All of it has been released and paid for.
    """

    program: str
    outputs: tuple[Any, ...]
    types: tuple[str, ...]
    exact: tuple[Any, ...]
    dp_epsilon: Fraction
    dp_delta: Fraction
    releases: Mapping[str, Any] = field(default_factory=dict)
    release_id: str | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "releases", MappingProxyType(dict(self.releases)))

    def __iter__(self) -> Iterator[Any]:
        return iter(self.outputs)

    def __len__(self) -> int:
        return len(self.outputs)

    def __getitem__(self, index: int) -> Any:
        return self.outputs[index]

    def __repr__(self) -> str:
        output_texts = ", ".join(repr(output) for output in self.outputs)
        cost = f"epsilon {up_words(float(self.dp_epsilon))}"
        cost += f", delta {up_words(float(self.dp_delta))}" if self.dp_delta else ""
        return f"<{self.program}: {output_texts} ({cost})>"

    @property
    def value(self) -> Any:
        """The only output, or a tuple of all outputs where there are several."""
        return self.outputs[0] if len(self.outputs) == 1 else self.outputs

    @property
    def mean(self) -> Any:
        """The mean of the only output, a distribution. Raises `InputError` for anything else."""
        return self._only("mean").mean

    @property
    def sd(self) -> Any:
        """The standard deviation of the only output. Raises `InputError` as `mean` does."""
        return self._only("sd").sd

    def interval(self, p: float = 0.95) -> Any:
        """The central interval of the only output, which holds it with probability p.

        Raises `InputError` as `mean` does, and unless 0 < p < 1.
        """
        return self._only("interval").interval(p)

    def samples(self, k: int) -> Any:
        """`k` draws of the only output. Raises `InputError` as `mean` does."""
        return self._only("samples").samples(k)

    def figure(self, title: str = "") -> Figure:
        """The density of the only output as an SVG element. Raises `InputError` as `mean` does."""
        return self._only("figure").figure(title or self.program)

    def _only(self, method: str) -> Distribution:
        if len(self.outputs) != 1 or not isinstance(self.outputs[0], Distribution):
            raise InputError(
                method, self.program, expected="one output that is a distribution",
                remedy="Look at the outputs one by one: result[0].",
            )  # fmt: skip
        return self.outputs[0]

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data for JSON."""
        return {
            "program": self.program,
            "outputs": [
                {"type": kind, **plain(output)}
                for kind, output in zip(self.types, self.outputs, strict=True)
            ],
            "releases": {name: plain(value) for name, value in self.releases.items()},
            "dp_epsilon": float(self.dp_epsilon),
            "dp_delta": float(self.dp_delta),
            **({"notes": list(self.notes)} if self.notes else {}),
        }


def require_finite(document: Mapping[str, Any]) -> None:
    """Raises `InputError` for a number that JSON, and so the ledger, can't hold: inf or NaN."""
    try:
        json.dumps(document, allow_nan=False)
    except ValueError:
        raise InputError(
            "the result", expected="finite numbers; some are infinite or NaN", shown=False
        ) from None


def display_value(value: Any) -> Any:
    """A released value for people: ints, floats, tuples of them; anything else as it is."""
    if isinstance(value, tuple):
        return tuple(display_value(entry) for entry in value)
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else _nearest(value)
    return value


def _nearest(value: Fraction) -> float:
    """The nearest finite double: what was released and paid for is shown, however large."""
    largest = Fraction(float_info.max)
    return float(max(-largest, min(largest, value)))


def plain(value: Any) -> dict[str, Any]:
    """A value as plain data for JSON."""
    if hasattr(value, "to_dict"):
        document: dict[str, Any] = value.to_dict()
        return document
    value = display_value(value)
    return {"value": list(value) if isinstance(value, tuple) else value}
