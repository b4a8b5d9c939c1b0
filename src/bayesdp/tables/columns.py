"""What a study declares about a column: role, bounds or states, missing values, what is public.

The keys are those of `[data.columns]` in a study file:

- numeric: `{ bounds = [lo, hi], unit = "cm", missing = "refuse" }`, or `missing = { impute = x }`
  or `{ codes = [-9], impute = x }`; values are clipped to the bounds;
- dates: `{ bounds = ["2020-01-01", "2026-12-31"] }`, with a `format` where they are written in
  another way; their values are numbers of days since 1970-01-01;
- durations: `{ bounds = ["0 minutes", "90 minutes"] }`; their values are numbers of that unit;
- discrete: `{ states = ["child", "father"] }`: texts, numbers or booleans; with texts,
  `other = "someone else"` names the state that all texts count as that are no state;
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
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from itertools import pairwise, product
from typing import Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    model_validator,
)

from bayesdp.errors import InputError, closest, did_you_mean, require_shown, toml_key
from bayesdp.statements.base import exact_text
from bayesdp.statements.columns import FROM_DATA, CellKey, Value
from bayesdp.statements.conditions import TIME_WORDS, is_time, value_kind
from bayesdp.statements.queries import MOST_COMBINATIONS
from bayesdp.statements.times import (
    DAYS,
    DURATION_WORDS,
    FORMAT_WORDS,
    STEP_WORDS,
    Format,
    TimeStep,
    days_of,
    duration_of,
    format_of,
    step_of,
)
from bayesdp.tables.column_keys import check_other, finite, refuse
from bayesdp.tables.missing_codes import Impute, RefuseMissing, check_missing, read_missing

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

_KEYS = (
    "bounds",
    "states",
    "groups",
    "from",
    "cuts",
    "where",
    "role",
    "step",
    "format",
    "public",
    "independent",
    "unit",
    "missing",
    "other",
)
_ROLES = ("cluster", "member", "series", "order")
_MOST_EXACT = 2**53


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
        return _check(dict(raw)) if isinstance(raw, Mapping) else raw

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
    declared = f'role = "{column.role}"'
    if column.step is None:
        return declared
    step = f'"{column.step}"' if isinstance(column.step, str) else exact_text(column.step)
    return f"{declared}, step = {step}"


def known_keys(key: str) -> str:
    """The remedy for an unknown key: the closest known key, or the list of them."""
    return did_you_mean(key, _KEYS)


def _check(raw: dict[str, Any]) -> dict[str, Any]:
    """All checks of a declaration beyond its types, with the key in the message."""
    name = str(raw.get("name", "?"))
    if "source" in raw:
        raw["from"] = raw.pop("source")
    for key in raw:
        if key != "name" and key not in _KEYS:
            refuse(name, key, raw[key], "a known key", known_keys(key))
    raw = {key: value for key, value in raw.items() if value is not None}
    for key in ("public", "independent"):
        if not isinstance(raw.get(key, False), bool):
            refuse(name, key, raw[key], "true or false")
    if raw.get("role") == "order" and isinstance(raw.get("from"), list | tuple):
        raw["parts"] = _parts(name, raw.pop("from"))
    for key in ("from", "where", "unit"):
        if not (isinstance(raw.get(key, "x"), str) and raw.get(key, "x").strip()):
            refuse(name, key, raw[key], "a text")
        require_shown(raw.get(key, "x"), f"data.columns.{name}.{key}")
    for key in ("is_date", "is_duration"):
        if key in raw:
            refuse(name, key, raw[key], "a known key", known_keys(key))
    if "bounds" in raw and _are_durations(raw["bounds"]):
        _read_durations(name, raw)
    elif "bounds" in raw and _are_times(raw["bounds"]):
        _read_dates(name, raw)
    if "bounds" in raw:
        raw["bounds"] = _bounds(name, raw["bounds"])
    if "states" in raw:
        raw["states"] = _states(name, raw["states"])
    _check_groups(name, raw)
    if "cuts" in raw:
        raw["cuts"] = _cuts(name, raw["cuts"])
    if "missing" in raw:
        raw["missing"] = read_missing(name, raw["missing"])
    _check_combination(name, raw)
    _check_impute(name, raw)
    check_other(name, raw)
    return raw | {"missing": check_missing(name, raw)}


def _check_combination(name: str, raw: dict[str, Any]) -> None:
    """Exactly one kind of column is declared, and with keys of that kind only."""
    role = raw.get("role")
    if "role" in raw and role not in _ROLES:
        expected = "'cluster', 'member', 'series' or 'order'"
        refuse(name, "role", role, expected, closest(str(role), _ROLES))
    if "step" in raw and role != "order":
        refuse(name, "step", raw["step"], "to stand with role = 'order' only")
    if role == "order":
        raw["step"] = _step(name, raw.get("step"))
    if "format" in raw or "parts" in raw:
        _check_format(name, raw)
    declared = [key for key in ("bounds", "states", "groups", "from", "role") if key in raw]
    if role == "member" and "states" not in raw:
        refuse(name, "states", None, "the names of the members of a cluster", "states = [...]")
    if role is not None and "states" in declared:  # the public groups of `by`
        declared.remove("states")
    if role == "order":
        _check_positions(name, raw)
    if len(declared) > 1:
        refuse(name, declared[1], raw[declared[1]], f"not to stand beside '{declared[0]}'")
    if not declared and not raw.get("public", False):
        raise InputError(
            f"data.columns.{name}",
            raw.get("unit"),
            shown=False,
            expected="bounds, states, groups, from, role or public = true",
            remedy="For example { bounds = [0, 100] } or { states = ['yes', 'no'] }.",
        )
    ways = [key for key in ("cuts", "where") if key in raw]
    if "from" in raw and len(ways) != 1:
        refuse(name, "from", raw["from"], "to stand with exactly one of 'cuts' and 'where'")
    if "from" not in raw and ways:
        refuse(name, ways[0], raw[ways[0]], "to stand with 'from', the column it is computed from")
    if raw.get("independent") and (role is not None or raw.get("public") or not declared):
        refuse(name, "independent", True, "to stand on a private column (bounds, states or from)")
    if role is not None and raw.get("public") is False:
        refuse(name, "public", False, "true or left out: a role is public")


def _check_groups(name: str, raw: dict[str, Any]) -> None:
    """Groups that are found in the data are private texts, and missing cells are in none."""
    if "groups" not in raw:
        return
    if raw["groups"] != FROM_DATA:
        remedy = "Write states = [...] to declare them."
        refuse(name, "groups", raw["groups"], f"'{FROM_DATA}'", remedy)
    if raw.get("public"):
        remedy = "Declare the states of a public column, which are its groups."
        refuse(name, "public", True, "false: groups that are found in the data are private", remedy)
    for key in ("missing", "other", "unit", "format"):
        if key in raw:
            refuse(name, key, raw[key], "nothing beside groups: a missing cell is in no group")


def _are_times(value: object) -> bool:
    return isinstance(value, list | tuple) and any(isinstance(bound, str) for bound in value)


def _read_dates(name: str, raw: dict[str, Any]) -> None:
    """Bounds that are dates, and an imputed date, as numbers of days."""
    if "unit" in raw and raw["unit"] != DAYS:
        refuse(name, "unit", raw["unit"], f"no unit for dates, which are {DAYS}")

    def days(key: str, value: object) -> float:
        if not is_time(value):
            refuse(name, key, value, TIME_WORDS, "Midnight is the date alone.")
        return days_of(datetime.fromisoformat(str(value)))

    _read_in_numbers(raw, days)
    raw |= {"unit": DAYS, "is_date": True}


def _read_in_numbers(raw: dict[str, Any], number: Callable[[str, object], float]) -> None:
    """The bounds, and an imputed text, as the numbers that they say: `number` reads each."""
    raw["bounds"] = [number("bounds", bound) for bound in raw["bounds"]]
    missing = raw.get("missing")
    if isinstance(missing, Mapping) and isinstance(missing.get("impute"), str):
        raw["missing"] = {**missing, "impute": number("missing.impute", missing["impute"])}


def _are_durations(value: object) -> bool:
    def is_duration(bound: object) -> bool:
        try:
            duration_of(str(bound))
        except ValueError:
            return False
        return isinstance(bound, str)

    return isinstance(value, list | tuple) and any(map(is_duration, value))


def _read_durations(name: str, raw: dict[str, Any]) -> None:
    """Bounds that are durations, and an imputed duration, as numbers of the unit of the bounds."""
    units: list[str] = []

    def number(key: str, value: object) -> float:
        try:
            count, unit = duration_of(value if isinstance(value, str) else "")
        except ValueError:
            refuse(name, key, value, DURATION_WORDS, "Units are seconds, minutes, hours, ...")
        units.append(unit)
        if unit != units[0]:
            refuse(name, key, value, f"a number of {units[0]}, as the first of the bounds is")
        return count

    _read_in_numbers(raw, number)
    if raw.get("unit", units[0]) != units[0]:
        refuse(name, "unit", raw["unit"], f"'{units[0]}', as in the bounds, or no unit")
    raw |= {"unit": units[0], "is_duration": True}


def _parts(name: str, value: list[Any] | tuple[Any, ...]) -> tuple[str, ...]:
    """The columns that a date is put together from."""
    texts = all(isinstance(part, str) and part for part in value)
    if not texts or len(set(value)) < len(value) or len(value) < 2 or name in value:
        expected = "two or more other columns, such as ['year', 'month']"
        refuse(name, "from", list(value), expected, "Give the date a new name.")
    return tuple(value)


def _check_format(name: str, raw: dict[str, Any]) -> None:
    """A format stands with a step that is a time, and says how several columns are read."""
    text = raw.get("format")
    if not (isinstance(raw.get("step"), str) or raw.get("is_date")):
        key = "format" if "format" in raw else "from"
        refuse(
            name, key, text, "to stand with bounds that are dates, or with a step such as '1 month'"
        )
    if text is None:
        remedy = "For example format = '%Y %m': the cells are joined by a space."
        refuse(name, "format", None, "the format of the date that these columns make", remedy)
    try:
        format_of(text if isinstance(text, str) else "")
    except ValueError:
        refuse(name, "format", text, FORMAT_WORDS, "For example '%d.%m.%Y', or '%Y-Q%q'.")


def _check_positions(name: str, raw: dict[str, Any]) -> None:
    """The states of an order column are of the type of its step: times or numbers."""
    dated = isinstance(raw["step"], str)
    for state in raw.get("states", ()):
        if dated and not is_time(state):
            refuse(name, "states", state, TIME_WORDS, "Midnight is the date alone.")
        if not dated and value_kind(state) != "number":
            refuse(name, "states", state, "numbers, as the step is one", 'Dates: step = "1 day".')
    step = step_of(raw["step"]) if dated else None
    if step is not None and step.periods:
        places = [step.place(datetime.fromisoformat(state)) for state in raw.get("states", ())]
        if len(set(places)) < len(places):
            refuse(name, "states", list(raw["states"]), f"one date in each {raw['step']}")


def _check_impute(name: str, raw: dict[str, Any]) -> None:
    missing = raw.get("missing")
    if not isinstance(missing, Impute):
        return
    value = missing.impute
    if "role" in raw or not any(key in raw for key in ("bounds", "states", "from")):
        refuse(name, "missing", value, "'refuse': only bounds, states or a derivation can impute")
    if "bounds" in raw:
        number = finite(name, "missing.impute", value)
        if not raw["bounds"][0] <= number <= raw["bounds"][1]:
            refuse(name, "missing.impute", value, f"a value within the bounds {raw['bounds']}")
    if "states" in raw and not any(
        value == state and value_kind(value) == value_kind(state) for state in raw["states"]
    ):
        refuse(name, "missing.impute", value, "one of the declared states")
    if "cuts" in raw:
        finite(name, "missing.impute", value)


def _bounds(name: str, value: object) -> tuple[float, float]:
    if not isinstance(value, list | tuple) or len(value) != 2:
        refuse(name, "bounds", value, "two numbers, [lower, upper]")
    lower, upper = (finite(name, "bounds", bound) for bound in value)
    if not lower < upper:
        refuse(name, "bounds", value, "lower < upper")
    return lower, upper


def _states(name: str, value: object) -> tuple[Value, ...]:
    if not isinstance(value, list | tuple) or not value:
        refuse(name, "states", value, "a list of at least one state")
    states = tuple(value)
    for state in states:
        if not isinstance(state, bool | int | float | str):
            refuse(name, "states", state, "texts, numbers or booleans")
        if value_kind(state) != value_kind(states[0]):
            refuse(name, "states", value, "all texts, all numbers or all booleans")
        if value_kind(state) == "number":
            number = finite(name, "states", state)
            if abs(number) >= _MOST_EXACT:
                refuse(name, "states", state, "numbers below 2^53", "Write them as texts.")
        if isinstance(state, str):
            require_shown(state, f"data.columns.{name}.states")
        if state == "":
            refuse(name, "states", state, "no empty text: in a table it means 'missing'")
    if len(set(states)) < len(states):
        refuse(name, "states", value, "each state once")
    return states


def _cuts(name: str, value: object) -> tuple[float, ...]:
    if not isinstance(value, list | tuple) or not value:
        refuse(name, "cuts", value, "a list of at least one number")
    cuts = tuple(finite(name, "cuts", cut) for cut in value)
    if any(left >= right for left, right in pairwise(cuts)):
        refuse(name, "cuts", value, "strictly increasing numbers")
    return cuts


def _step(name: str, value: object) -> float | str:
    if value is None:
        refuse(
            name,
            "step",
            value,
            "the distance of neighbouring records, so that a gap is seen as one",
            "Write step = 1, or step = '1 day' where the column holds dates.",
        )
    if isinstance(value, str):
        try:
            step_of(value)
        except ValueError:
            refuse(name, "step", value, STEP_WORDS)
        return value
    number = finite(name, "step", value)
    if number <= 0:
        refuse(name, "step", value, "a number above 0")
    return number
