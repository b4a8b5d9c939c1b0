"""A release: all its numbers and answers, what follows from them, and the certificate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayesdp import notebook
from bayesdp.accounting.costs.rounded import up_words
from bayesdp.certificate import Certificate
from bayesdp.errors import InputError, UnsupportedError, unknown_name
from bayesdp.numbers import UpperBound
from bayesdp.release.derived.regressions import (
    Regression,
    coefficients_of,
    regression,
    regressions_of,
)
from bayesdp.release.derived.results import Derived
from bayesdp.release.programs.answers import ProgramAnswer, around
from bayesdp.release.results.result import (
    SHOWN,
    Result,
    ResultList,
    place_text,
    result_at,
    shown_row,
)
from bayesdp.release.words import cost_words
from bayesdp.statements.base import exact_text
from bayesdp.tables.refusals import counted

if TYPE_CHECKING:
    import pandas
    import polars

COLUMNS = ("query", "group", "cell", "value", "error_95", "low_95", "high_95", "unit")
"""The columns of a release as a table."""


@dataclass(frozen=True, slots=True)
class Release:
    """A finished release. Iterating gives its `Result`s, then the answers of its programs.

    `id` is its name in the ledger, `time` when it was made (ISO 8601). `level` is that of this
    release alone, an epsilon in nats at `delta`. `dp_epsilon` is the sum of the pure costs and
    `dp_rho` that of the costs in zCDP: Gaussian noise has no pure cost. `remarks` say which
    theorems were left out for time, so that with more of it there may have been less noise, and
    which numbers have noise that is larger than everything they could be. `cells` says for each
    histogram of intervals which they are. `derived` was computed from the numbers, at no cost.
    `from_data` are the queries by groups that are found in the data, of which none may be shown.
    """

    id: str
    time: str
    results: tuple[Result, ...]
    certificate: Certificate
    level: UpperBound
    dp_epsilon: float
    dp_rho: float = 0.0
    delta: float = 0.0
    programs: tuple[ProgramAnswer, ...] = ()
    remarks: tuple[str, ...] = ()
    cells: tuple[str, ...] = ()
    derived: tuple[Derived, ...] = ()
    from_data: tuple[str, ...] = ()

    def __repr__(self) -> str:
        numbers = counted(len(self.results), "number", "numbers")
        if self.programs:
            numbers += f", {counted(len(self.programs), 'program', 'programs')}"
        return f"Release({self.id[:8]}: {numbers}, {self._cost()})"

    def __str__(self) -> str:
        return "\n".join(
            [*map(str, (*self, *self.derived)), *self.cells, self._cost(), *self.remarks]
        )

    def _cost(self) -> str:
        notion = str(self.certificate.body["claim"]["notion"]).upper()
        delta = f" at delta {exact_text(self.delta)}" if self.delta > 0.0 else ""
        cost = cost_words(self.dp_epsilon, self.dp_rho)
        return f"{cost}, {notion} level {up_words(self.level)}{delta}"

    def _repr_html_(self) -> str:
        """The table that a notebook shows: what was released, and its cost."""
        rows = [shown_row(result) for result in self.results]
        for answer in self.programs:
            for output in answer.each():
                value, spread = output.shown()
                spread = f"{spread} (95 %)" if spread else ""
                rows.append((output.name, "", value, spread, output.unit))
        for made in self.derived:
            rows += made.rows()
        said = map(notebook.paragraph, [*self.cells, self._cost(), *self.remarks])
        return notebook.table("Released", SHOWN, rows) + "".join(said)

    def __iter__(self) -> Any:
        return iter((*self.results, *self.programs))

    def __len__(self) -> int:
        """How many results it has, the answers of its programs included."""
        return len(self.results) + len(self.programs)

    def __getitem__(self, name: object) -> Any:
        """What the query of this name released: a `Result`, or the answer of a program.

        Or what is derived under this name.

        A query with groups (`by`) and a histogram have a `ResultList`. One of its results is
        `release[name, group]`, `release[name, cell]` or `release[name, group, cell]`, and
        `release[name, group]` the cells of one group. Where they are combinations of several
        columns' values, each value is a name of its own: `release["ill", "north", "f"]`. Groups and
        cells are named as they are, or as they are shown, as in `release["heights", "[150, 180)"]`.
        Raises `UnknownNameError`, a `KeyError`, with the names that there are.
        """
        if name == ():
            raise InputError("release[()]", expected="the name of a query", shown=False)
        query, *parts = name if isinstance(name, tuple) else (name,)
        results = [result for result in self if result.query == query]
        made = {derived.name: derived for derived in self.derived}
        if query in made and not parts:
            return made[query]
        if not results and query in self.from_data and not parts:
            return ResultList()
        if not results:
            known = [*(result.query for result in self), *self.from_data, *made]
            raise unknown_name("release", query, list(dict.fromkeys(known)))
        # A list, however many groups are shown.
        whole = query in self.from_data and not parts
        return ResultList(results) if whole else result_at(results, parts)

    def regression(
        self, name: str, *group: object, confidence: float = 0.95, sampling: bool = False
    ) -> Regression:
        """The linear regression that the query of this name released, of a `group` if it has any.

        `group` are the values of the columns of `by`. Its intervals are at `confidence`, over the
        noise; with `sampling` also over samples of independent rows. It costs nothing. Raises
        `InputError` where noise swamps the design, and for queries of other kinds.
        """
        moments = self[(name, *group)] if group else self[name]
        some = moments if isinstance(moments, list) else [moments]
        return regression(some, confidence, sampling=sampling)

    def __contains__(self, name: object) -> bool:
        """Whether a query of this name was released."""
        known = [*(result.query for result in self), *(made.name for made in self.derived)]
        return name in known or name in self.from_data

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
            **self._plain_regressions(),
            **({"derived": [made.to_dict() for made in self.derived]} if self.derived else {}),
            "certificate": self.certificate.to_dict(),
        }

    def _plain_regressions(self) -> dict[str, Any]:
        """The regressions whose noise leaves coefficients, if there are any."""
        groups = regressions_of(self.results)
        fits = [fit for group in groups if (fit := coefficients_of(group)) is not None]
        return {"regressions": [fit.to_dict() for fit in fits]} if groups else {}

    def _columns(self) -> dict[str, list[Any]]:
        rows: list[tuple[Any, ...]] = [
            (
                result.query,
                place_text(result.group, result.group_words),
                place_text(result.cell, result.cell_words),
                result.value,
                result.margin(0.95),
                *around(result.value, result.margin(0.95)),
                result.unit,
            )
            for result in self.results
        ]
        for answer in self.programs:
            many = len(answer.outputs) > 1
            for output in answer.each():
                group = output.name.removeprefix(f"{answer.query}, ") if many else None
                rows += [
                    (answer.query, group, row.cell or None, row.value, row.error, *row.interval,
                     output.unit)
                    for row in output.rows()
                ]  # fmt: skip
        for made in self.derived:
            rows += [
                (made.name, each.place or None, None, each.value, None, each.low, each.high,
                 made.unit)
                for each in made.at(0.95)
            ]  # fmt: skip
        return {name: [row[i] for row in rows] for i, name in enumerate(COLUMNS)}

    def to_pandas(self) -> pandas.DataFrame:
        """One row for each number: query, group, cell, value, error_95, low_95, high_95, unit.

        `low_95` and `high_95` are the ends of the 95 % interval: of a number, `value` give or take
        the noise's error `error_95`. A quantile has neither, since they are private: see
        `QuantileResult`. What programs returned is among the rows. A distribution has its mean as
        its value, its central 95 % interval, and no `error_95`; a vector has a row for each entry.
        What is `derived` comes last, with intervals and no `error_95`.
        """
        import pandas

        return pandas.DataFrame(self._columns())

    def to_polars(self) -> polars.DataFrame:
        """The rows of `to_pandas` as a Polars frame.

        Raises `UnsupportedError` without the extra `polars`.
        """
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
