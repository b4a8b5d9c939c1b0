"""What was expected, in words: the one place where pydantic's problems are translated.

Its own wording speaks of inputs and valid strings; people declare numbers, texts, lists and tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args

_KINDS = {
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "int_parsing_size": "a whole number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "string_type": "a text",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a table",
    "mapping_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
    "none_required": "nothing",
}
"""What there should have been, by the type of a problem."""

_COMPARED = {
    "greater_than": ("gt", "greater than"),
    "greater_than_equal": ("ge", "greater than or equal to"),
    "less_than": ("lt", "less than"),
    "less_than_equal": ("le", "less than or equal to"),
}
"""For each problem with a number's size the name of the limit, and what is said of it."""

_BEYOND = 2**53
"""Upper limits from here on are those of doubles: only who exceeds one is told of it."""


def place_of(
    location: Sequence[int | str], plain: object, *, missing: bool
) -> tuple[int | str, ...]:
    """The keys and positions that lead to a problem in plain data.

    The `location` is pydantic's, in which names of forms stand between the keys; `plain` is what
    was read. `missing` says that the last key is not there.
    """
    place: list[int | str] = []
    for position, key in enumerate(location):
        inside = (isinstance(plain, Mapping) and key in plain) or (
            isinstance(plain, list | tuple) and isinstance(key, int) and key < len(plain)
        )
        if inside or (missing and position == len(location) - 1):
            place.append(key)
        if inside:
            plain = plain[key]  # type: ignore[index]  # a mapping or a list, or it were not inside
    return tuple(place)


def place_text(place: Iterable[int | str]) -> str:
    """A place as it is written behind the name of what it is in: `.nodes[2].name`."""
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in place)


def expected_words(problems: Sequence[Mapping[str, Any]], field: Any = None) -> str:
    """What was expected of one value, with which pydantic has these `problems`.

    They are several where one of several forms would do. `field` is the model's field, if the value
    is that of one: its limits are said then whatever was wrong.
    """
    words = list(dict.fromkeys(_words(problem, field) for problem in problems))
    if "a number" in words:
        words = [word for word in words if word != "a whole number"]
    *first, last = words
    if not first:
        return last
    joined = "," if " or " in last else ", or" if " or " in first[-1] else " or"
    return f"{', '.join(first)}{joined} {last}"


def _words(problem: Mapping[str, Any], field: Any) -> str:
    kind, context = problem["type"], problem.get("ctx", {})
    limits = _limits(field)
    if kind in _COMPARED:
        name, words = _COMPARED[kind]
        if not limits or _is_beyond(context[name]):
            return f"a number {words} {_number(context[name])}"
        return f"{_noun(field)}{limits}"
    if kind in _KINDS:
        return _KINDS[kind] + (limits if _KINDS[kind].endswith("number") else "")
    if kind in ("too_short", "too_long"):
        few = kind == "too_short"
        count = context["min_length" if few else "max_length"]
        of_keys = context.get("field_type") == "Dictionary"
        items = f"{'key' if of_keys else 'item'}{'' if count == 1 else 's'}"
        amount = "at least" if few else "at most"
        if count == 0:
            return f"an empty {'table' if of_keys else 'list'}"
        return f"a {'table' if of_keys else 'list'} of {amount} {count} {items}"
    if kind == "string_too_short" and context["min_length"] == 1:
        return "a text that is not empty"
    if kind == "literal_error":
        return str(context["expected"])
    message: str = problem["msg"]
    if kind == "value_error":
        return message.removeprefix("Value error, ")
    return message[0].lower() + message[1:]


def _noun(field: Any) -> str:
    kinds = {field.annotation, *get_args(field.annotation)}
    return "a number" if float in kinds else "a whole number"


def _limits(field: Any) -> str:
    """The numbers between which a field's value must lie, as they follow the noun."""
    limit: dict[str, Any] = {}
    for constraint in getattr(field, "metadata", ()):
        for name in ("gt", "ge", "lt", "le"):
            if getattr(constraint, name, None) is not None:
                limit[name] = getattr(constraint, name)
    if _is_beyond(limit.get("le", 0)):
        del limit["le"]
    text = {name: _number(number) for name, number in limit.items()}
    match sorted(limit):
        case ["gt", "lt"]:
            return f" strictly between {text['gt']} and {text['lt']}"
        case ["ge", "le"]:
            return f" from {text['ge']} to {text['le']}"
        case ["gt", "le"]:
            return f" above {text['gt']}, up to {text['le']}"
        case ["ge", "lt"]:
            return f" from {text['ge']} on, below {text['lt']}"
        case ["ge"]:
            return f" of at least {text['ge']}"
        case ["le"]:
            return f" up to {text['le']}"
        case [name]:
            return f" {'greater' if name == 'gt' else 'less'} than {text[name]}"
    return ""


def _is_beyond(limit: float) -> bool:
    return limit >= _BEYOND


def _number(number: float) -> str:
    return repr(number).removesuffix(".0")


def way_out(value: object, problems: Sequence[Mapping[str, Any]]) -> str:
    """What to write in the place of a `value` with which pydantic has these `problems`.

    Empty where only its author can know.
    """
    if problems[0]["type"] == "too_long":
        return "Leave the others out."
    wanted = {_KINDS.get(problem["type"], "") for problem in problems}
    number = bool(wanted & {"a number", "a whole number", "a finite number"})
    if isinstance(value, bool):
        return "A truth value is not a number." if number else ""
    if isinstance(value, str):
        if number and _is_number(value, whole="a number" not in wanted):
            return f"Write {value.strip()}, without quotes."
        if "true or false" in wanted and value.strip().lower() in ("true", "false"):
            return f"Write {value.strip().lower()}, without quotes."
        return "Write a list, between square brackets." if "a list" in wanted else ""
    if not isinstance(value, int | float):
        by = "float" if "a number" in wanted else "int"
        is_one = number and hasattr(value, "item") and not getattr(value, "shape", True)
        return f"Convert it with {by}() first." if is_one else ""
    if "a text" in wanted:
        return f'Write "{value!r}", in quotes.'
    if "a whole number" in wanted and isinstance(value, float) and value.is_integer():
        return f"Write {int(value)}, without decimals." if abs(value) < _BEYOND else ""
    if "true or false" in wanted and value in (0, 1):
        return f"Write {'true' if value else 'false'}."
    return "Write a list, between square brackets." if "a list" in wanted else ""


def _is_number(text: str, *, whole: bool) -> bool:
    try:
        int(text) if whole else float(text)
    except ValueError:
        return False
    return text.strip().lower().strip("+-") not in ("nan", "inf", "infinity") and len(text) < 40
