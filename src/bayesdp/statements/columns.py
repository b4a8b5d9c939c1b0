"""Columns as certificates state them: one class for each kind, and what holds of a set of them.

`label` is the name under which a spend remembers what it read.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Literal

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
    Sequence,
    Statement,
    Yes,
    is_shown,
    listed,
    one_form,
    visible,
)
from bayesdp.statements.conditions import (
    ConditionText,
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


class Derived(Column):
    """A column that is computed from another, its `source`."""

    source: Name = Field(alias="from")


class Cut(Derived):
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


class Condition(Derived):
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
