"""The parts of a study file as models: what keys each has, and of which type.

What must hold between them is checked in `reading.consistency`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from bayesdp.errors import InputError
from bayesdp.notions import Adversary, Notion, Secrets
from bayesdp.statements.queries import (
    RANDOMIZED_RESPONSE,
    NumberKind,
    SeriesAnswers,
    Strategy,
    names_of_values,
)
from bayesdp.statements.spends import protected_unit
from bayesdp.tables.cells.joins import Join
from bayesdp.tables.cells.wide import Wide
from bayesdp.tables.files.csv_dialect import USUAL, CsvDialect

QueryKind = Literal[NumberKind, "quantile", "median", "randomized_response", "series", "program"]
"""A median is read as the quantile of probability 0.5 (`reading.study_files`)."""

OF_REGRESSIONS = ("on", "outcome")
"""The keys that no query has but regressions."""

OF_QUANTILES = ("probability", "probabilities", "candidates", "step")
"""The keys that no query has but quantiles."""

NO_NOISE = ("program", RANDOMIZED_RESPONSE)
"""Kinds of queries whose numbers get no noise of the release's own."""

OF_SERIES = ("answers", "strategy")
"""The keys that no query has but series."""

CAPS = ("max_rows", "max_groups", "max_rows_per_group", "total_bounds")
"""The keys of a query that say how much a record of several rows counts."""


def _names(value: object) -> object:
    """The name of a column, or of several. `ValueError` for anything else."""
    names = value if isinstance(value, list | tuple) else [value]
    if value is not None and not all(isinstance(name, str) for name in names):
        raise ValueError("the name of a column, or a list of names")
    return tuple(names) if isinstance(value, list | tuple) else value


ColumnNames = Annotated[str | tuple[str, ...] | None, BeforeValidator(_names)]
NoiseOption = Literal["auto", "laplace", "gaussian"]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, strict=True)


class DataSpec(_Part):
    """`[data]`: where the table is, under which name its budget is kept, what a record is.

    `csv` is how the files of the source are written. `rows_per_unit` is the most rows of a record
    that is several, and the rows of each if it is `balanced`. With `max_rows` in its place a record
    may have more, of which so many count. `wide` makes a wide table long, and `join` adds columns
    of public tables: everything else speaks of the table that they make. `people` names whom the
    data set shares with others of its ledger: all of these have one budget.
    """

    source: str | None = None
    csv: CsvDialect = USUAL
    dataset: str = Field(min_length=1)
    n: int | Literal["from data"]
    unit: str = "row"
    rows_per_unit: int | None = Field(default=None, ge=1)
    max_rows: int | None = Field(default=None, ge=1)
    balanced: bool = False
    wide: Wide | None = None
    join: tuple[Join, ...] = ()
    people: str | None = None

    @property
    def protected_unit(self) -> str:
        """What a record is, as ledgers tell budgets apart by it."""
        return protected_unit(self.unit, None if self.wide is None else self.wide.position)

    @property
    def rows_per_record(self) -> int:
        """The most rows of a record that count."""
        return self.rows_per_unit or self.max_rows or 1


class BudgetSpec(_Part):
    """`[budget]`: the notion, its total for the data set, and what this study may spend of it.

    With a `delta` the total is an epsilon at this delta, and `noise` may be Gaussian.
    `mechanism_delta` is the part of it that is set aside for mechanisms with a delta of their own.
    `seconds` is the time that a theorem may take for one level, by its estimate. `analyst` is the
    name under which the ledger keeps who released; the login name if it is left out.
    """

    notion: Notion = "bdp"
    epsilon: float = Field(gt=0, le=1e6)
    delta: float = Field(default=0.0, ge=0, lt=1)
    mechanism_delta: float = Field(default=0.0, ge=0, lt=1)
    noise: NoiseOption = "auto"
    adversary: Adversary = "any"
    secrets: Secrets = "bounded"
    ledger: str | None = None
    spend: float | None = Field(default=None, gt=0)
    seconds: float = Field(default=1.0, gt=0)
    analyst: str | None = None


class QuerySpec(_Part):
    """`[[query]]`: one number, or one number for each declared group or cell; or a program.

    What is asked, and of whom:

    - `name`, `kind`, `column`: what is computed, and of which column. A covariance is of the two
      columns that `column` lists, a histogram of several columns has their combinations as cells.
    - `where`: which rows count.
    - `by`: the column whose states are the groups; of several columns their combinations are.

    What only some kinds have:

    - Regressions: the `outcome` `on` one column or several.
    - Histograms of a column of numbers: the edges of their `bins`.
    - Quantiles: one `probability`. The answer is one of the `candidates`, or of the grid of this
      `step` that begins at the column's lower bound; of a column with states it is one of these.
      With several `probabilities` it is read as a query for each (`quantile_lists`).
    - Series, which are a count or a sum for each period of `by`, or a count for each state of a
      private column: `answers` are those of each period, of all up to it, or of any in a row;
      `strategy` says which sums get noise.
    - Answers in `column` that were perturbed at collection: the `epsilon` of collection.
    - Programs: `program` as `"file.py:name"`, its public `parameters`, and `columns` of the table
      where its record's fields are named otherwise. Its cost is its own.

    How rows count:

    - `weighted_by`: a column of survey weights, by which rows count.
    - `max_rows`: where a record is several rows, so many of those that match count at most. Or
      they count in at most `max_groups` groups of `by`, at most `max_rows_per_group` in each.
    - `total_bounds`: what a record's total is clipped to.

    What it may cost, and how large its errors are:

    - `weight`: its share of the budget.
    - `delta`: of a count by groups that are found in the data, a part of what the budget sets
      aside; if it is left out, all such queries have equal parts.
    - `tightness`: whether it is priced by its DP cost, or by what this one mechanism leaks.
    - `error`: what is wanted of every number of the query, at `confidence`, instead of a weight.
    - `group_sizes`: the public numbers of rows, by group, that a mean or proportion with `by` is
      over. With them its errors are known before the data are read.
    """

    name: str = Field(min_length=1)
    kind: QueryKind
    column: ColumnNames = None
    on: ColumnNames = None
    outcome: str | None = None
    where: str | None = None
    by: ColumnNames = None
    group_sizes: dict[str, int] | None = None
    bins: tuple[float, ...] | None = Field(default=None, strict=False)
    probability: float | None = Field(default=None, gt=0, lt=1)
    probabilities: tuple[float, ...] | None = Field(default=None, strict=False)
    candidates: tuple[float, ...] | None = Field(default=None, strict=False)
    step: float | None = Field(default=None, gt=0)
    weight: float | None = Field(default=None, gt=0)
    weighted_by: str | None = Field(default=None, min_length=1)
    error: float | None = Field(default=None, gt=0)
    confidence: float = Field(default=0.95, gt=0.5, lt=1)
    tightness: Literal["dp", "mechanism"] = "dp"
    max_rows: int | None = Field(default=None, ge=1)
    max_groups: int | None = Field(default=None, ge=1)
    max_rows_per_group: int | None = Field(default=None, ge=1)
    total_bounds: tuple[float, float] | None = Field(default=None, strict=False)
    epsilon: float | None = Field(default=None, gt=0)
    delta: float | None = Field(default=None, gt=0, lt=1)
    answers: SeriesAnswers | None = None
    strategy: Strategy | Literal["auto"] | None = None
    program: str | None = Field(default=None, min_length=1)
    parameters: dict[str, bool | int | float | str] = Field(default_factory=dict)
    columns: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _of_two_columns(cls, raw: Any) -> Any:
        """Of a covariance `columns = ["x", "y"]` says the same as `column`."""
        columns = raw.get("columns") if isinstance(raw, dict) else None
        if not isinstance(columns, list | tuple) or raw.get("kind") != "covariance":
            return raw
        if raw.get("column") is not None:
            return raw
        return {key: value for key, value in raw.items() if key != "columns"} | {"column": columns}

    @property
    def value_columns(self) -> tuple[str, ...]:
        """The columns whose values it reads: of a regression the outcome last."""
        return names_of_values(self.column, self.on, self.outcome)


class LaterPart(QuerySpec):
    """A further query that a `[[query]]` is read as, beside the first one."""

    @classmethod
    def of(cls, query: QuerySpec) -> LaterPart:
        """The same query, as a further one."""
        return cls.model_construct(**dict(query))


def is_declared(query: QuerySpec) -> bool:
    """Whether a query is the first, or the only one, that its `[[query]]` is read as."""
    return not isinstance(query, LaterPart)


def refuse_keys(
    query: QuerySpec, names: Iterable[str], key: str, expected: str, remedy: str = ""
) -> None:
    """`InputError` for the first of the keys `names` that the query at `key` has.

    It says what was `expected`, and the `remedy`: to leave the key out, if it is not given.
    """
    for name in names:
        value = getattr(query, name)
        if value is not None:
            shown = list(value) if isinstance(value, tuple) else value
            raise InputError(
                f"{key}.{name}", shown, expected=expected, remedy=remedy or f"Leave {name} out."
            )
