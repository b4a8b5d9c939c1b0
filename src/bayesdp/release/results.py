"""What a release hands over: numbers with their errors, and the certificate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayesdp.accounting.rounded import up_words
from bayesdp.certificate import Certificate
from bayesdp.errors import InputError, UnknownNameError, UnsupportedError, did_you_mean
from bayesdp.release.noise import Noise, kind_of
from bayesdp.release.program_results import ProgramAnswer

if TYPE_CHECKING:
    import pandas
    import polars


@dataclass(frozen=True, slots=True)
class Result:
    """One released number.

    `group` is the declared key of `by`, `cell` the cell of a histogram. `unit` is the column's.
    `rows` is how many rows a mean or proportion is over, which is public. Its cost is `dp_epsilon`
    with Laplace noise and `dp_rho`, in zCDP, with Gaussian noise; the other one is 0. The
    error is that of the noise alone: clipping to the bounds may add more, and how much is private.
    """

    query: str
    kind: str
    value: float
    noise: Noise
    noise_unit: float
    dp_epsilon: float
    group: Any = None
    cell: Any = None
    unit: str = ""
    certificate: Certificate | None = None
    rows: int | None = None
    dp_rho: float = 0.0

    def __repr__(self) -> str:
        return f"Result({self})"

    def __str__(self) -> str:
        where = [str(part) for part in (self.group, self.cell) if part is not None]
        name = ", ".join([self.query, *where])
        shown = f"{name}: {self.value:.7g} +- {up_words(self.error(0.95))}"
        return f"{shown} {self.unit} (95 %)" if self.unit else f"{shown} (95 %)"

    def error(self, confidence: float = 0.95) -> float:
        """The noise moves the value by more than this with probability at most 1 - confidence."""
        return self.noise.quantile(confidence) * self.noise_unit

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as in certificates and `--json`."""
        named: dict[str, Any] = {"query": self.query, "kind": self.kind}
        if self.group is not None:
            named["group"] = self.group
        if self.cell is not None:
            named["cell"] = self.cell
        if self.rows is not None:
            named["rows"] = self.rows
        cost = {"dp_rho": self.dp_rho} if self.dp_rho > 0.0 else {"dp_epsilon": self.dp_epsilon}
        return named | {
            "value": self.value,
            "unit": self.unit,
            "error": {"confidence": 0.95, "value": self.error(0.95)},
            "noise": {
                "distribution": kind_of(self.noise).distribution,
                "scale": self.noise.scale,
                "step": self.noise_unit,
            },
            **cost,
        }


@dataclass(frozen=True, slots=True)
class Release:
    """A finished release. Iterating gives its `Result`s, then the answers of its programs.

    `level` is an epsilon at `delta`. `dp_epsilon` is the sum of the pure costs and `dp_rho` that of
    the costs in zCDP: Gaussian noise has no pure cost.
    """

    id: str
    time: str
    results: tuple[Result, ...]
    certificate: Certificate
    level: float
    dp_epsilon: float
    dp_rho: float = 0.0
    delta: float = 0.0
    programs: tuple[ProgramAnswer, ...] = ()

    def __repr__(self) -> str:
        numbers = counted(len(self.results), "number", "numbers")
        if self.programs:
            numbers += f", {counted(len(self.programs), 'program', 'programs')}"
        return f"Release({self.id[:8]}: {numbers}, {self._cost()})"

    def __str__(self) -> str:
        return "\n".join([*map(str, self), self._cost()])

    def _cost(self) -> str:
        notion = str(self.certificate.body["claim"]["notion"]).upper()
        delta = f" at delta {self.delta:g}" if self.delta > 0.0 else ""
        cost = cost_words(self.dp_epsilon, self.dp_rho)
        return f"{cost}, {notion} level {up_words(self.level)}{delta}"

    def __iter__(self) -> Any:
        return iter((*self.results, *self.programs))

    def __len__(self) -> int:
        """How many results it has, the answers of its programs included."""
        return len(self.results) + len(self.programs)

    def __getitem__(self, name: object) -> Any:
        """What the query of this name released: a `Result`, or the answer of a program.

        A query with groups (`by`) and a histogram have a list, in the order in which they were
        declared. One of them is `release[name, group]`, `release[name, cell]` or
        `release[name, group, cell]`, and `release[name, group]` the cells of one group. Groups and
        cells are named as they are, or as they are shown. Errors: `UnknownNameError`, a `KeyError`,
        with the names that there are.

        >>> release["heights", "[150, 180)"].value  # doctest: +SKIP
        17.0
        """
        if name == ():
            raise InputError("release[()]", expected="the name of a query", shown=False)
        query, *parts = name if isinstance(name, tuple) else (name,)
        results = [result for result in self if result.query == query]
        if not results:
            raise _unknown("release", query, [str(result.query) for result in self])
        for position, part in enumerate(parts):
            there = [_places(result)[position : position + 1] for result in results]
            if not all(there):
                raise InputError(
                    f"release[{query!r}]", part, expected=f"no more than {position + 1} names"
                )
            results = [r for r, (at,) in zip(results, there, strict=True) if _is_place(at, part)]
            if not results:
                names = [str(at) for (at,) in there]
                raise _unknown(f"release[{query!r}]", part, names)
        if len(_places(results[0])) > len(parts):
            return results
        return results[0]

    def __contains__(self, name: object) -> bool:
        """Whether a query of this name was released."""
        return any(result.query == name for result in self)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `bayesdp release --json` prints it."""
        return {
            "release": self.id,
            "time": self.time,
            "dp_epsilon": self.dp_epsilon,
            **({"dp_rho": self.dp_rho} if self.dp_rho > 0.0 else {}),
            "level": self.level,
            "delta": self.delta,
            "results": [result.to_dict() for result in self],
            "certificate": self.certificate.to_dict(),
        }

    def _columns(self) -> dict[str, list[Any]]:
        rows = [
            (
                r.query,
                None if r.group is None else str(r.group),
                None if r.cell is None else str(r.cell),
                r.value,
                r.error(0.95),
                r.unit,
            )
            for r in self.results
        ]
        for answer in self.programs:
            many = len(answer.outputs) > 1
            for output in answer.each():
                group = output.name.removeprefix(f"{answer.query}, ") if many else None
                rows += [
                    (answer.query, group, cell or None, value, error, output.unit)
                    for cell, value, error in output.rows()
                ]
        names = ("query", "group", "cell", "value", "error_95", "unit")
        return {name: [row[i] for row in rows] for i, name in enumerate(names)}

    def to_pandas(self) -> pandas.DataFrame:
        """One row for each number: query, group, cell, value, error_95, unit.

        Numbers that programs returned are among them, with the error of the noise where it is that
        of one release; distributions are not.
        """
        import pandas

        return pandas.DataFrame(self._columns())

    def to_polars(self) -> polars.DataFrame:
        """One row for each number. Needs the extra `polars`; `UnsupportedError` without it."""
        try:
            import polars
        except ImportError:
            raise UnsupportedError(
                "to_polars",
                expected="the Python package polars",
                remedy="Install it: pip install 'bayesdp[polars]'. Or use to_pandas().",
                shown=False,
            ) from None

        return polars.DataFrame(self._columns())


def _places(result: Result | ProgramAnswer) -> tuple[Any, ...]:
    """By what a result differs from others of its query: its group, then its cell."""
    if isinstance(result, ProgramAnswer):
        return ()
    return tuple(part for part in (result.group, result.cell) if part is not None)


def _is_place(place: object, name: object) -> bool:
    """Whether a group or cell is meant: by its value, or by the text that is shown."""
    return str(place) == name if isinstance(name, str) else place == name


def _unknown(where: str, name: object, known: list[str]) -> UnknownNameError:
    names = list(dict.fromkeys(known))
    return UnknownNameError(
        where, name, expected="a name that there is", remedy=did_you_mean(str(name), names)
    )


def cost_words(dp_epsilon: float, dp_rho: float) -> str:
    """A pure cost, or one in zCDP, rounded up."""
    return f"zCDP cost {up_words(dp_rho)}" if dp_rho > 0.0 else f"DP cost {up_words(dp_epsilon)}"


def counted(count: int, singular: str, plural: str) -> str:
    """A count with its noun, such as "1 query" or "2 queries"."""
    return f"{count} {singular if count == 1 else plural}"
