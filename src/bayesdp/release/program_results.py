"""What a program of a study handed over: distributions and released numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bayesdp.certificate import Certificate
from bayesdp.errors import UnsupportedError


@dataclass(frozen=True, slots=True)
class ProgramAnswer:
    """What one program returned, in the order of its `return`.

    `outputs` are distributions, with `mean`, `interval(p)`, `samples(k)` and `figure()`, and
    released numbers; `types` is what the program's annotation calls them. With one output the
    answer has its methods itself. `releases` are the noisy values behind them, by name. There is no
    error of the noise alone: a posterior's interval accounts for it if the program was
    `noise_aware`.

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

    def __repr__(self) -> str:
        return f"ProgramAnswer({self})"

    def __str__(self) -> str:
        return "\n".join(f"{name}: {_words(one)}" for name, one in self.named())

    @property
    def value(self) -> Any:
        """The one output, or all of them as a tuple. Refused where the program failed."""
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
        """The mean of the one output, which is a distribution."""
        return self._one("mean").mean

    def interval(self, p: float = 0.95) -> Any:
        """The central interval of the one output, which is a distribution."""
        return self._one("interval").interval(p)

    def samples(self, k: int) -> Any:
        """Draws of the one output, which is a distribution."""
        return self._one("samples").samples(k)

    def figure(self, title: str = "") -> str:
        """The density of the one output, as an SVG element."""
        found: str = self._one("figure").figure(title or self.query)
        return found

    def error(self, confidence: float = 0.95) -> float:
        """Refused: a program's outputs have intervals of their own."""
        raise UnsupportedError(
            "error",
            confidence,
            expected="no error of the noise alone for what a program returned",
            remedy="Use interval(p) of a distribution.",
        )

    def named(self) -> list[tuple[str, Any]]:
        """Each output with the query's name, numbered where there are several."""
        if self.failure:
            names = [f"{self.query}, {name}" for name in self.releases]
            return list(zip([*names, self.query], self.outputs, strict=True))
        if len(self.outputs) == 1:
            return [(self.query, self.outputs[0])]
        return [(f"{self.query}, {i}", one) for i, one in enumerate(self.outputs, start=1)]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as in certificates and `--json`."""
        cost = {"dp_epsilon": self.dp_epsilon}
        if self.dp_rho > 0.0:
            cost["dp_rho"] = self.dp_rho
        outputs = [
            {"type": kind, **plain_output(one)}
            for kind, one in zip(self.types, self.outputs, strict=True)
        ]
        return {
            "query": self.query,
            "kind": self.kind,
            "outputs": outputs,
            "releases": {name: _plain(one) for name, one in self.releases.items()},
            **cost,
        }

    def _one(self, what: str) -> Any:
        value = self.value
        if not is_distribution(value):
            raise UnsupportedError(
                what,
                self.query,
                expected="an answer that is one distribution",
                remedy="Look at .outputs.",
            )
        return value


def is_distribution(value: object) -> bool:
    """Whether an output is a distribution, and no released number."""
    return hasattr(value, "interval") and hasattr(value, "mean")


def plain_output(value: Any) -> dict[str, Any]:
    """An output as plain data."""
    if hasattr(value, "to_dict"):
        found: dict[str, Any] = value.to_dict()
        return found
    return {"value": _plain(value)}


def _plain(value: Any) -> Any:
    if isinstance(value, bool | str | None):
        return value
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, Sequence):
        return [_plain(one) for one in value]
    return int(value) if isinstance(value, int) else float(value)


def _words(value: Any) -> str:
    """An output in a line."""
    if not is_distribution(value):
        return number_words(value)
    return f"mean {number_words(value.mean)}, 95 % interval {interval_words(value.interval(0.95))}"


def number_words(value: Any) -> str:
    """A number, or the first of several."""
    plain = _plain(value)
    if isinstance(plain, dict):
        return "; ".join(f"{name}: {number_words(one)}" for name, one in plain.items())
    if isinstance(plain, list):
        shown = ", ".join(number_words(one) for one in plain[:8])
        return f"({shown}{', ...' if len(plain) > 8 else ''})"
    return plain if isinstance(plain, str) else f"{plain:.6g}"


def interval_words(interval: Any) -> str:
    """One interval, or one for each entry of a vector."""
    if isinstance(interval[0], tuple):
        shown = ", ".join(interval_words(one) for one in interval[:8])
        return f"{shown}{', ...' if len(interval) > 8 else ''}"
    low, high = interval
    return f"{low:.6g} to {high:.6g}"
