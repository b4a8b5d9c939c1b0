"""Columns as certificates state them: one class for each kind, and what holds of a set of them.

`label` is the name under which a spend remembers what it read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    ConfigDict,
    Discriminator,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    Tag,
    model_validator,
)

from bayesdp.statements.base import (
    MOST_EXACT,
    Name,
    Number,
    Reader,
    Sequence,
    Statement,
    StatementError,
    Yes,
    is_shown,
    listed,
    one_form,
    visible,
)
from bayesdp.statements.conditions import (
    ConditionText,
    Operand,
    comparisons,
    holds,
    parse,
    value_kind,
)
from bayesdp.statements.times import format_of, step_of

Value = StrictBool | StrictInt | StrictFloat | StrictStr
"""What a cell of a discrete column holds. A truth value, a number and a text are never equal."""

CellKey = Annotated[
    Annotated[Value, Tag("single")]
    | Annotated[tuple[Value, ...], Sequence, Field(min_length=2), Tag("list")],
    Discriminator(listed),
]
"""A group or cell: a value of a column, or the values of several columns that are crossed."""

DEFINED_AS = " = "
"""Stands in the labels of derived columns, and in the name of no column."""


def kind_of(value: object) -> Literal["number", "text", "truth value"]:
    """The kind of a value: number, text or truth value."""
    if isinstance(value, bool):
        return "truth value"
    return "text" if isinstance(value, str) else "number"


def _states(values: tuple[Value, ...]) -> tuple[Value, ...]:
    if len({kind_of(value) for value in values}) > 1:
        raise ValueError("states of different kinds")
    for value in values:
        if isinstance(value, str):
            if not value:
                raise ValueError("an empty text, which stands for a missing value")
            visible(value)
        elif not -MOST_EXACT <= value <= MOST_EXACT:
            raise ValueError("a number that isn't exact as a double")
    if len(set(values)) < len(values):
        raise ValueError("a state stands there twice")
    return values


def _increasing(cuts: tuple[float, ...]) -> tuple[float, ...]:
    if any(left >= right for left, right in pairwise(cuts)):
        raise ValueError("cuts that don't increase")
    return cuts


def _interval(bounds: tuple[float, float]) -> tuple[float, float]:
    if not bounds[0] < bounds[1]:
        raise ValueError("a lower bound that is not below the upper one")
    return bounds


def _time_step(step: str) -> str:
    step_of(step)
    return step


def _format(text: str) -> str:
    format_of(text)
    return text


def _not_public(public: bool) -> bool:
    if public:
        raise ValueError("groups that are found in the data, and a column that is not protected")
    return public


States = Annotated[tuple[Value, ...], Sequence, Field(min_length=1), AfterValidator(_states)]
OrderStep = Annotated[
    Annotated[Annotated[Number, Field(gt=0)], Tag("number")]
    | Annotated[Annotated[Name, AfterValidator(_time_step)], Tag("time")],
    Discriminator(lambda plain: "time" if isinstance(plain, str) else "number"),
]


def _codes(codes: tuple[Value, ...]) -> tuple[Value, ...]:
    for code in codes:
        if isinstance(code, str):
            if not code.strip():
                raise ValueError("an empty text as the code of a missing value")
            visible(code)
        elif isinstance(code, bool) or not -MOST_EXACT < code < MOST_EXACT:
            raise ValueError("a code of missing values that isn't exact as a double")
    if len(set(codes)) < len(codes):
        raise ValueError("a code of missing values stands there twice")
    return codes


Codes = Annotated[tuple[Value, ...], Sequence, AfterValidator(_codes)]
"""Cells that are missing values."""


class Impute(Statement):
    """The value that replaces a missing one; cells that are one of the `codes` are missing too."""

    impute: Value
    codes: Annotated[Codes, Field(min_length=1)] = ()

    @model_validator(mode="after")
    def _not_a_code(self) -> Impute:
        if self.impute in self.codes and not isinstance(self.impute, bool):
            raise ValueError("a missing value becomes one of the codes of missing values")
        return self


class RefuseMissing(Statement):
    """Missing values are refused, and so are cells that are one of the `codes`."""

    codes: Annotated[Codes, Field(min_length=1)]


def _treatment(plain: object) -> str:
    if isinstance(plain, str):
        return "refused"
    imputed = isinstance(plain, Impute) or (isinstance(plain, Mapping) and "impute" in plain)
    return "imputed" if imputed else "coded"


class Column(Statement):
    """The keys that every column may have. `public` columns and roles are not protected."""

    model_config = ConfigDict(populate_by_name=False)

    public: bool = False
    independent: bool = False
    unit: Name | None = None
    missing: Annotated[
        Annotated[Literal["refuse"], Tag("refused")]
        | Annotated[Impute, Tag("imputed")]
        | Annotated[RefuseMissing, Tag("coded")],
        Discriminator(_treatment),
    ] = "refuse"

    @property
    def is_private(self) -> bool:
        """Whether the column is protected."""
        return not self.public

    @property
    def codes(self) -> tuple[Value, ...]:
        """The codes that stand for missing values in its cells."""
        return () if isinstance(self.missing, str) else self.missing.codes

    @property
    def levels(self) -> tuple[Value, ...] | None:
        """The values that it may hold; `None` for numbers between bounds, and where undeclared."""
        return None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval of its numbers; `None` for other values, or a single number."""
        levels = self.levels
        if levels is None or kind_of(levels[0]) != "number":
            return None
        numbers = [float(level) for level in levels]
        return (min(numbers), max(numbers)) if min(numbers) < max(numbers) else None

    @model_validator(mode="after")
    def _independent_of_others(self) -> Column:
        if self.independent and not self.is_private:
            raise ValueError("a column that is not protected is declared independent")
        return self


class Numeric(Column):
    """Numbers, clipped to `bounds`."""

    bounds: Annotated[tuple[Number, Number], Sequence, AfterValidator(_interval)]

    @property
    def interval(self) -> tuple[float, float]:
        """The bounds."""
        return self.bounds

    @model_validator(mode="after")
    def _imputed(self) -> Numeric:
        if isinstance(self.missing, Impute):
            value = self.missing.impute
            if isinstance(value, bool | str) or not self.bounds[0] <= value <= self.bounds[1]:
                raise ValueError("a missing value becomes one outside of the bounds")
        return self


class Discrete(Column):
    """One of the `states`. Other texts count as the state `other`, where one is named."""

    states: States
    other: Name | None = None

    @property
    def levels(self) -> tuple[Value, ...]:
        """The states."""
        return self.states

    @model_validator(mode="after")
    def _other_texts(self) -> Discrete:
        if self.other is not None and self.other not in self.states:
            raise ValueError("other texts become one that is not a state")
        if self.other is not None and self.public:
            raise ValueError("other texts of a column that is not protected")
        return self

    @model_validator(mode="after")
    def _imputed(self) -> Discrete:
        if set(self.codes) & set(self.states):
            raise ValueError("a state is the code of a missing value")
        if isinstance(self.missing, Impute):
            value = self.missing.impute
            if kind_of(value) != kind_of(self.states[0]) or value not in self.states:
                raise ValueError("a missing value becomes one that is not a state")
        return self


FROM_DATA = "from data"
"""In place of groups: those that are found in the data."""

MOST_LETTERS = 100
"""The most letters of the name of a group that is found in the data."""


def is_group_name(text: str) -> bool:
    """Whether a cell names a group, where groups are found in the data.

    It is one line of at most `MOST_LETTERS` letters that are shown as they stand, with no space at
    its ends. What is longer, hidden or empty names no group: that depends on the cell alone.

    >>> is_group_name("Café 12"), is_group_name(""), is_group_name("x" * 101)
    (True, False, False)
    """
    return 0 < len(text) <= MOST_LETTERS and is_shown(text) and text == text.strip()


class Found(Column):
    """Texts that nobody declares: groups that are found in the data."""

    groups: Literal["from data"]
    public: Annotated[bool, AfterValidator(_not_public)] = False
    missing: Literal["refuse"] = "refuse"


class _Derived(Column):
    source: Name = Field(alias="from")


class Cut(_Derived):
    """A derived column: how many of the `cuts` are at most the value of its source."""

    cuts: Annotated[tuple[Number, ...], Sequence, Field(min_length=1), AfterValidator(_increasing)]

    @property
    def levels(self) -> tuple[Value, ...]:
        """0, 1, ..., the number of cuts."""
        return tuple(range(len(self.cuts) + 1))

    @model_validator(mode="after")
    def _imputed(self) -> Cut:
        if isinstance(self.missing, Impute) and isinstance(self.missing.impute, bool | str):
            raise ValueError("a missing value becomes one that isn't a number")
        return self


class Condition(_Derived):
    """A derived column: 1 where the condition `where` holds of its source, else 0."""

    where: ConditionText

    @property
    def levels(self) -> tuple[Value, ...]:
        """0 and 1."""
        return (0, 1)


class _Role(Column):
    missing: Literal["refuse"] = "refuse"
    public: Yes = True

    @property
    def is_private(self) -> bool:
        """No column with a role is protected."""
        return False


class Group(_Role):
    """A role: the column says which cluster or series a row belongs to."""

    role: Literal["cluster", "series"]
    states: States | None = None

    @property
    def levels(self) -> tuple[Value, ...] | None:
        """The clusters or series, where they are declared."""
        return self.states


class Member(_Role):
    """A role: the column says which record of its cluster a row is."""

    role: Literal["member"]
    states: States

    @property
    def levels(self) -> tuple[Value, ...]:
        """The names of the records."""
        return self.states


class Position(_Role):
    """A role: the column says in which order rows come; neighbours are a `step` apart.

    Dates may have a `format`; with one, they may be put together from several public columns.
    """

    role: Literal["order"]
    step: OrderStep
    states: States | None = None
    format: Annotated[Name, AfterValidator(_format)] | None = None
    parts: Annotated[tuple[Name, ...], Sequence, Field(min_length=2)] | None = Field(
        default=None, alias="from"
    )

    @property
    def levels(self) -> tuple[Value, ...] | None:
        """The positions, where they are declared."""
        return self.states

    @model_validator(mode="after")
    def _positions(self) -> Position:
        due = "text" if isinstance(self.step, str) else "number"
        if self.states is not None and kind_of(self.states[0]) != due:
            raise ValueError("positions of another kind than the step counts")
        if self.format is not None and not isinstance(self.step, str):
            raise ValueError("a format of dates whose step is a number")
        if self.parts is not None and (
            self.format is None or len(set(self.parts)) < len(self.parts)
        ):
            raise ValueError("several columns make a date, and no format says how")
        return self


class Unprotected(Column):
    """A public column whose values are not declared."""

    public: Yes
    missing: Literal["refuse"] = "refuse"


def _form(plain: object) -> str:
    if isinstance(plain, Mapping) and "role" in plain:
        return {"member": "member", "order": "position"}.get(str(plain["role"]), "group")
    forms = [("bounds", "numeric"), ("cuts", "cut"), ("where", "condition"), ("states", "discrete")]
    forms.append(("groups", "found"))
    return one_form(plain, forms, "unprotected")


AnyColumn = Annotated[
    Annotated[Numeric, Tag("numeric")]
    | Annotated[Discrete, Tag("discrete")]
    | Annotated[Cut, Tag("cut")]
    | Annotated[Condition, Tag("condition")]
    | Annotated[Found, Tag("found")]
    | Annotated[Group, Tag("group")]
    | Annotated[Member, Tag("member")]
    | Annotated[Position, Tag("position")]
    | Annotated[Unprotected, Tag("unprotected")],
    Discriminator(_form),
]
Columns = Mapping[str, AnyColumn]
"""Declared columns by name."""

_COLUMNS: Reader[dict[str, AnyColumn]] = Reader(dict[Name, AnyColumn])


def read_columns(plain: object, place: str = "columns") -> dict[str, AnyColumn]:
    """The declared columns by name, each as one of the classes above.

    Raises `StatementError` naming the first problem.
    """
    columns = _COLUMNS.read(plain, place)
    roles: set[str] = set()
    derived: dict[str, bool] = {}
    definitions: set[str] = set()
    for name, column in columns.items():
        if DEFINED_AS in name:
            raise StatementError(f"{place}.{name}", "a name that reads like a definition")
        if isinstance(column, Group | Member | Position):
            if column.role in roles:
                raise StatementError(f"{place}.{name}", "two columns of one role")
            roles.add(column.role)
        for part in (isinstance(column, Position) and column.parts) or ():
            if part == name or DEFINED_AS in part or not _is_public_cell(part, columns):
                raise StatementError(
                    f"{place}.{name}", "a date is put together from a column that is not public"
                )
        if isinstance(column, _Derived):
            _check_source(name, column, columns, f"{place}.{name}")
            definition = label("", column)
            if definition in definitions:
                raise StatementError(f"{place}.{name}", "two columns of one definition")
            definitions.add(definition)
            if derived.setdefault(column.source, column.is_private) != column.is_private:
                raise StatementError(
                    f"{place}.{name}", "a private and a public column are computed from one column"
                )
    return columns


def _is_public_cell(name: str, columns: Columns) -> bool:
    """Whether a column of the table is public as far as is declared: nothing private reads it."""
    readers = [column for column in columns.values() if getattr(column, "source", None) == name]
    stated = columns.get(name)
    is_cell = stated is None or not isinstance(stated, _Derived | Position)
    declared = readers if stated is None else [*readers, stated]
    return is_cell and not any(column.is_private for column in declared)


def _check_source(name: str, column: _Derived, columns: Columns, place: str) -> None:
    source = columns.get(column.source)
    if column.source == name or DEFINED_AS in column.source:
        raise StatementError(place, "it isn't computed from another column of the table")
    if source is None:
        return
    if isinstance(source, _Derived):
        raise StatementError(place, "it is computed from a derived column")
    if isinstance(column.missing, Impute):
        raise StatementError(place, "missing values belong to the column that it is computed from")
    if source.is_private and not column.is_private:
        raise StatementError(place, "a public column is computed from a private one")
    if not source.is_private and column.is_private:
        raise StatementError(place, "a private column is computed from a public one")
    values = source.levels or ()
    dated = isinstance(source, Position) and isinstance(source.step, str)
    if isinstance(column, Cut) and (
        dated or not all(kind_of(value) == "number" for value in values)
    ):
        raise StatementError(place, "cuts of values that are not numbers")


def check_law(covers: tuple[str, ...], columns: Columns, place: str) -> None:
    """Refuse a law of the covered columns' states in which some state is impossible.

    That is so where two columns hold values of one column of the table, themselves or computed from
    it, and where no value of its declared source has some state of a derived column. Raises
    `StatementError`.
    """
    sources = [getattr(columns[name], "source", name) for name in covers]
    for name, source in zip(covers, sources, strict=True):
        if sources.count(source) > 1:
            reason = f"there are two columns with values of '{source}', and a law of both"
            raise StatementError(place, reason)
        column = columns[name]
        if isinstance(column, _Derived) and source in columns:
            missed = sorted(set(column.levels or ()) - _reached(column, columns[source]))
            if missed:
                raise StatementError(place, f"no value of '{source}' has the state {missed[0]}")


def _reached(column: Cut | Condition, source: AnyColumn) -> set[Any]:
    """The states of a derived column that values of its source have."""
    tree = None if isinstance(column, Cut) else parse(column.where)
    values: list[Any] = list(source.levels or ())
    if isinstance(source, Numeric):
        literals: Iterable[Any] = (
            column.cuts
            if isinstance(column, Cut)
            else [value for test in comparisons(parse(column.where)) for value in test.values]
        )
        marks = [float(value) for value in literals if not isinstance(value, str)]
        low, high = source.bounds
        missing = {float(code) for code in source.codes if not isinstance(code, str)}
        inside = (mark for mark in (*marks, *missing) if low <= mark <= high)
        ends = sorted({low, high, *inside})
        values = [*ends, *((a + b) / 2 for a, b in pairwise(ends))]
        values = [value for value in values if value not in missing]
    if not values:
        return set(column.levels)
    if isinstance(column, Cut):
        return {sum(cut <= value for cut in column.cuts) for value in values}
    tree = parse(column.where)
    return {int(holds(tree, {column.source: value})) for value in values}


def roles_of(columns: Columns) -> dict[str, Group | Member | Position]:
    """The columns with a role, by their roles."""
    with_roles = (
        column for column in columns.values() if isinstance(column, Group | Member | Position)
    )
    return {column.role: column for column in with_roles}


def operand(column: AnyColumn) -> Operand:
    """The facts about a column that conditions on it depend on."""
    dated = isinstance(column, Position) and isinstance(column.step, str)
    levels = column.levels
    if isinstance(column, Found):
        return Operand("text")
    if isinstance(column, Numeric | _Derived):
        return Operand("number", levels, indicator=isinstance(column, Condition))
    if dated:
        return Operand("text", levels, dated=True)
    return Operand(None if levels is None else value_kind(levels[0]), levels)


def label(name: str, column: AnyColumn) -> str:
    """The name of a column in spends: with its definition, where it is derived."""
    cuts = column.cuts if isinstance(column, Cut) else None
    where = column.where if isinstance(column, Condition) else None
    return name_in_spends(name, getattr(column, "source", None), cuts, where)


def name_in_spends(
    name: str, source: str | None, cuts: Iterable[float] | None, where: str | None
) -> str:
    """The name of a column in spends, after which the ledger knows it.

    That of a column cut at `cuts` from the column `source`, or of one that says whether the
    condition `where` on `source` holds, has its definition in it: another definition is another
    column. An argument is `None` where the column has no such part.
    """
    if cuts is not None:
        return f"{name}{DEFINED_AS}{source} cut at {list(cuts)}"
    if where is not None:
        return f"{name}{DEFINED_AS}({where}) of {source}"
    return name
