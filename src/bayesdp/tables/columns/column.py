"""What a study declares about a column: role, bounds or states, missing values, what is public.

The keys are those of `[data.columns]` in a study file:

- numeric: `{ bounds = [lo, hi], unit = "cm", missing = "refuse" }`, or `missing = { impute = x }`
  or `{ codes = [-9], impute = x }`; values are clipped to the bounds;
- dates: `{ bounds = ["2020-01-01", "2026-12-31"] }`, with a `format` where they are written in
  another way; their values are numbers of days since 1970-01-01;
- durations: `{ bounds = ["0 minutes", "90 minutes"] }`; their values are numbers of that unit;
- discrete: `{ states = ["child", "father"] }`: texts, numbers or booleans; with texts,
  `other = "someone else"` names the state of all texts that are none of the states;
- derived: `{ from = "steps", cuts = [0.5] }`, whose state is the number of cuts that are at most
  the value (0, 1, ...), or `{ from = "steps", where = "steps > 0" }`, with states 0 and 1;
- roles: `{ role = "cluster" }`, `{ role = "member", states = ["child", "father"] }` (which one of
  its cluster a record is), `{ role = "series" }`, `{ role = "order", step = 1 }`; the step is
  a number, or a text such as "15 minutes", "1 day" or "1 quarter" where the column holds dates or
  times, whose texts may have a `format` such as "%d.%m.%Y"; with one, `from = ["year", "month"]`
  puts the date together from several columns, whose cells are joined by a space; with
  `states` where it is used in `by`: the clusters, the series, the positions;
- groups: `{ groups = "from data" }`, private texts that nobody declares, for counts `by` it;
- public: `{ public = true }`, not protected, with `states` where it is used in `by`.

`independent = true` on a private column with bounds, states or a derivation declares that, once a
record's own covered columns are known, the column neither depends on nor informs about other
records.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    model_validator,
)

from bayesdp.errors import InputError, did_you_mean, toml_key
from bayesdp.statements.base import exact_text
from bayesdp.statements.columns import CellKey, Value
from bayesdp.statements.conditions import value_kind
from bayesdp.statements.queries import MOST_COMBINATIONS
from bayesdp.statements.times import (
    Format,
    TimeStep,
    format_of,
    step_of,
)
from bayesdp.tables.columns.checks import check_declared
from bayesdp.tables.columns.missing_codes import Impute, RefuseMissing

ColumnKind = Literal[
    "numeric",
    "discrete",
    "cuts",
    "where",
    "groups",
    "cluster",
    "member",
    "series",
    "order",
    "public",
]


class Column(BaseModel):
    """One declared column. `parse_columns` makes it; raises `InputError` for keys that conflict."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)
    name: str
    bounds: tuple[float, float] | None = None
    states: tuple[Value, ...] | None = None
    groups: Literal["from data"] | None = None
    source: str | None = Field(default=None, alias="from")
    cuts: tuple[float, ...] | None = None
    where: str | None = None
    role: Literal["cluster", "member", "series", "order"] | None = None
    step: float | str | None = None
    format: str | None = None
    parts: tuple[str, ...] | None = Field(default=None, serialization_alias="from")
    public: bool = False
    independent: bool = False
    unit: str | None = None
    missing: Literal["refuse"] | Impute | RefuseMissing = "refuse"
    other: str | None = None
    is_date: bool = Field(default=False, exclude=True)
    is_duration: bool = Field(default=False, exclude=True)

    @model_validator(mode="before")
    @classmethod
    def _checked(cls, raw: Any) -> Any:
        return check_declared(dict(raw)) if isinstance(raw, Mapping) else raw

    @property
    def kind(self) -> ColumnKind:
        """The kind: numeric, discrete, cuts or where (both derived), groups, a role, or public."""
        if self.role is not None:
            return self.role
        if self.cuts is not None:
            return "cuts"
        if self.where is not None:
            return "where"
        if self.bounds is not None:
            return "numeric"
        if self.groups is not None:
            return "groups"
        return "public" if self.states is None else "discrete"

    @property
    def is_public(self) -> bool:
        """Whether the column is not protected: declared public, or a role."""
        return self.public or self.role is not None

    @property
    def is_private(self) -> bool:
        """Whether the column is protected."""
        return not self.is_public

    @property
    def is_derived(self) -> bool:
        """Whether the column is computed from another one."""
        return self.source is not None

    @property
    def levels(self) -> tuple[Value, ...] | None:
        """The finite set of values: declared states, or 0, 1, ... if derived; else None."""
        if self.cuts is not None:
            return tuple(range(len(self.cuts) + 1))
        return (0, 1) if self.where is not None else self.states

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval of its numbers: the bounds, or from the least to the largest of its states.

        None for a column that does not hold numbers, and for one that holds a single number. In the
        column's unit.
        """
        levels = self.levels
        if self.bounds is not None or levels is None or value_kind(levels[0]) != "number":
            return self.bounds
        numbers = [float(level) for level in levels]
        return (min(numbers), max(numbers)) if min(numbers) < max(numbers) else None

    @property
    def imputed(self) -> Value | None:
        """The value that replaces a missing one, or None where missing values are refused."""
        return self.missing.impute if isinstance(self.missing, Impute) else None

    @property
    def codes(self) -> tuple[Value, ...]:
        """The codes that stand for missing values in its cells."""
        return () if isinstance(self.missing, str) else self.missing.codes

    @property
    def reads(self) -> Literal["number", "text", "boolean"] | None:
        """The type that its values are read as; None where the table decides (plain public, roles).

        Dates and times of an order column are read as texts that sort like the times: see
        `is_time`.
        """
        if self.bounds is not None or self.is_derived:
            return "number"
        if self.is_dated or self.groups is not None:
            return "text"
        return None if self.states is None else value_kind(self.states[0])

    @property
    def is_dated(self) -> bool:
        """Whether this is an order column of dates or times."""
        return self.role == "order" and isinstance(self.step, str)

    @property
    def time_step(self) -> TimeStep | None:
        """The step of an order column of dates or times; None for other columns."""
        return step_of(self.step) if isinstance(self.step, str) else None

    @property
    def time_format(self) -> Format | None:
        """How its cells say dates and times; None where they say them in the standard ways."""
        return None if self.format is None else format_of(self.format)

    @property
    def cells(self) -> tuple[str, ...]:
        """The columns of the table that it is read from."""
        return self.parts or (self.source or self.name,)


def group_keys(
    columns: Mapping[str, Column], by: str | tuple[str, ...], key: str = "by"
) -> tuple[CellKey, ...]:
    """The declared keys of the public column `by`; of several columns all combinations of theirs.

    Raises `InputError` at `key` without any, and for too many combinations.
    """
    if isinstance(by, str):
        return _keys(columns, by, key)
    return combinations_of([_keys(columns, name, key) for name in by], by, key)


def combinations_of(
    states: Sequence[tuple[Value, ...]], names: Sequence[str], key: str
) -> tuple[tuple[Value, ...], ...]:
    """All combinations of the states of the columns `names`, in their order, the last one fastest.

    Raises `InputError` at `key` where there are more than `MOST_COMBINATIONS`.
    """
    sizes = [len(levels) for levels in states]
    many = math.prod(sizes)
    if many > MOST_COMBINATIONS:
        raise InputError(
            key,
            list(names),
            expected=f"at most {MOST_COMBINATIONS} combinations of states",
            remedy=f"There are {' x '.join(map(str, sizes))} = {many}: name fewer columns, or "
            "columns of fewer states.",
        )
    return tuple(product(*states))


def _keys(columns: Mapping[str, Column], by: str, key: str) -> tuple[Value, ...]:
    """The declared keys of one public column."""
    column = columns.get(by)
    if column is None:
        public = [name for name, known in columns.items() if not known.is_private]
        name = toml_key(by)
        declare = f"Write below [data.columns]: {name} = {{ public = true, states = [...] }}."
        raise InputError(
            key,
            by,
            expected="a declared public column",
            remedy=did_you_mean(by, public) if public else declare,
        )
    if column.groups is not None:
        raise InputError(
            key,
            by,
            expected="a column with declared groups, and those of this one are found in the data",
            remedy='Ask for kind = "count" by this column alone, or declare its states.',
        )
    if column.is_private:
        raise InputError(
            key,
            by,
            expected="a public column, and this one is private",
            remedy="Group by a column declared { public = true, states = [...] }, or release a "
            "histogram of this one; of several private columns: column = [...].",
        )
    if column.levels is None:
        raise InputError(
            key,
            by,
            expected="a public column whose group keys are declared",
            remedy="Write in the place of its line below [data.columns]: "
            f"{toml_key(by)} = {{ {_with_role(column)}, states = [...] }}, with its values.",
        )
    return column.levels


def _with_role(column: Column) -> str:
    """How a public column is declared, as in a study file."""
    if column.role is None:
        return "public = true"
    role_text = f'role = "{column.role}"'
    if column.step is None:
        return role_text
    step = f'"{column.step}"' if isinstance(column.step, str) else exact_text(column.step)
    return f"{role_text}, step = {step}"
