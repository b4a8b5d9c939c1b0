"""The checks of a column's declaration: its keys, what they say together, bounds that are dates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from itertools import pairwise
from typing import Any

from bayesdp.errors import InputError, closest, did_you_mean, require_shown
from bayesdp.statements.columns import FROM_DATA, Value
from bayesdp.statements.conditions import TIME_WORDS, is_time, value_kind
from bayesdp.statements.times import (
    DAYS,
    DURATION_WORDS,
    FORMAT_WORDS,
    STEP_WORDS,
    days_of,
    duration_of,
    format_of,
    step_of,
)
from bayesdp.tables.columns.keys import check_other, finite, refuse
from bayesdp.tables.columns.missing_codes import Impute, check_missing, read_missing

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


def known_keys(key: str) -> str:
    """The remedy for an unknown key: the closest known key, or the list of them."""
    return did_you_mean(key, _KEYS)


def check_declared(raw: dict[str, Any]) -> dict[str, Any]:
    """The declaration in standard form. Raises `InputError`, with the key, where it is wrong."""
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
    given_keys = [key for key in ("bounds", "states", "groups", "from", "role") if key in raw]
    if role == "member" and "states" not in raw:
        refuse(name, "states", None, "the names of the members of a cluster", "states = [...]")
    if role is not None and "states" in given_keys:  # the public groups of `by`
        given_keys.remove("states")
    if role == "order":
        _check_positions(name, raw)
    if len(given_keys) > 1:
        refuse(name, given_keys[1], raw[given_keys[1]], f"not to stand beside '{given_keys[0]}'")
    if not given_keys and not raw.get("public", False):
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
    if raw.get("independent") and (role is not None or raw.get("public") or not given_keys):
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
    if lower > upper:
        refuse(
            name,
            "bounds",
            value,
            "lower < upper",
            remedy=f"Write bounds = [{value[1]}, {value[0]}], the smaller number first.",
        )
    if lower == upper:
        further = "Write the smallest and the largest number that any value may be."
        refuse(name, "bounds", value, "lower < upper", remedy=further)
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
