"""What all statements share: how strict they are, and the words and numbers they are made of."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import cached_property
from typing import Annotated, Any, Generic, Literal, TypeVar
from unicodedata import category

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
)

from bayesdp.statements.wording import expected_words, place_of, place_text

HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Unicode categories of letters that break lines, or hide or turn what is shown."""

MOST_EXACT = 2**53
"""Whole numbers above it are not exact as doubles."""

_Item = TypeVar("_Item")
_Stated = TypeVar("_Stated")


def exact_text(number: float) -> str:
    """The shortest text that is this double and no other, as numbers are shown that were declared.

    >>> exact_text(1700086400.25), exact_text(40000.0), exact_text(0.1)
    ('1700086400.25', '40000', '0.1')
    """
    return repr(float(number) + 0.0).removesuffix(".0")  # 0 has no sign


class StatementError(ValueError):
    """Plain data that states nothing, or two things at once; `place` is where, `reason` why."""

    def __init__(self, place: str, reason: str) -> None:
        super().__init__(f"{place}: {reason}")
        self.place = place
        self.reason = reason


class NotKnownError(Exception):
    """Plain data that may state something, but no reader here knows it; `place` is where."""

    def __init__(self, place: str, reason: str) -> None:
        super().__init__(f"{place}: {reason}")
        self.place = place
        self.reason = reason


class Statement(BaseModel):
    """Frozen data with known keys only: no infinities, and no value turned into another type."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False, defer_build=True
    )


class Reader(Generic[_Stated]):
    """Reads one kind of statement, the type `kind`. Its validator is built at the first reading."""

    def __init__(self, kind: Any) -> None:
        self.kind = kind

    @cached_property
    def _adapter(self) -> TypeAdapter[_Stated]:
        return TypeAdapter(self.kind)

    def read(self, plain: object, place: str) -> _Stated:
        """The statement that plain data makes. Raises `StatementError` for the first problem."""
        try:
            return self._adapter.validate_python(plain)
        except ValidationError as error:
            path, reason = _first_problem(error, plain)
            raise StatementError(place + path, reason) from None
        except RecursionError:
            raise StatementError(place, "it is nested too deeply") from None
        except OverflowError:
            raise StatementError(place, "a number above all doubles") from None


_REASONS = {
    "extra_forbidden": "a key that does not belong there",
    "missing": "it is missing",
    "union_tag_invalid": "no such kind is known",
    "union_tag_not_found": "it does not say of which kind it is",
}


def _first_problem(error: ValidationError, plain: object) -> tuple[str, str]:
    """Where the first problem is, and why it is one."""
    problems = error.errors(include_url=False)
    kind = problems[0]["type"]
    place = _place(problems[0], plain)
    if kind in _REASONS:
        return place_text(place), _REASONS[kind]
    alike = [problem for problem in problems if _place(problem, plain) == place]
    words = expected_words([problem for problem in alike if problem["type"] not in _REASONS])
    if kind == "value_error":
        return place_text(place), words
    return place_text(place), f"expected {words}, not {_in_short(problems[0]['input'])}"


def _place(problem: Mapping[str, Any], plain: object) -> tuple[int | str, ...]:
    return place_of(problem["loc"], plain, missing=problem["type"] == "missing")


def _in_short(value: object) -> str:
    """A value as a reason shows it: a number or a truth value, the start of a text, else a kind."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        return str(value) if abs(value) < MOST_EXACT else "a whole number as large"
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, str):
        return f"the text {value[:40]!a}{'...' if len(value) > 40 else ''}"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    return "a table"


def is_shown(text: str) -> bool:
    """Whether a text is one line of letters that are shown as they stand."""
    # Nothing hidden is printable, and most texts are printable throughout.
    return text.isprintable() or not any(category(letter) in HIDDEN for letter in text)


def visible(text: str) -> str:
    """The text. Raises `ValueError` unless it is one line of letters that show as they stand."""
    if not is_shown(text):
        raise ValueError("a letter that isn't shown as it stands")
    return text


def all_visible(plain: Any, but: frozenset[str] = frozenset()) -> Any:
    """The plain data, whose texts and keys are lines of visible letters.

    Raises `ValueError` for any other text. What stands under the keys `but` has readers of its own.
    """
    waiting = [plain]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            visible(part)
        elif isinstance(part, dict):
            waiting += [*part, *(value for key, value in part.items() if key not in but)]
        elif isinstance(part, list):
            waiting += part
    return plain


def _not_a_truth_value(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("a truth value where a number is due")
    return value


def _double(value: object) -> object:
    """Whole numbers are doubles where nothing is rounded."""
    if type(value) is float:
        return value
    _not_a_truth_value(value)
    if isinstance(value, int) and abs(value) > MOST_EXACT and int(float(value)) != value:
        raise ValueError("a number that isn't exact as a double")
    return value


def _truth_value(value: object) -> object:
    if not isinstance(value, bool):
        raise ValueError("true is due, and neither 1 nor a text is true")
    return value


def _as_tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def distinct(values: tuple[_Item, ...]) -> tuple[_Item, ...]:
    """The values. Raises `ValueError` if a value is there twice."""
    if len(set(values)) < len(values):
        raise ValueError("an entry stands there twice")
    return values


Line = Annotated[str, AfterValidator(visible)]
"""One line of visible text."""

Name = Annotated[Line, Field(min_length=1)]
"""One line of visible text, not empty."""

Yes = Annotated[Literal[True], BeforeValidator(_truth_value)]
"""The truth value True, and not the number 1."""

Number = Annotated[float, BeforeValidator(_double)]
"""A finite number; whole ones may be written without a point."""

Size = Annotated[Number, Field(ge=0)]
"""A finite number that is not below 0."""

Positive = Annotated[Number, Field(gt=0)]
"""A finite number above 0."""

Whole = Annotated[int, BeforeValidator(_not_a_truth_value), Field(ge=0)]
"""A whole number that is not below 0, of any size."""

Count = Annotated[int, BeforeValidator(_not_a_truth_value), Field(ge=1, le=MOST_EXACT)]
"""A whole number from 1 to 2^53."""

Sequence = BeforeValidator(_as_tuple)
"""Beside a tuple type: a list as plain data has it, kept as a tuple."""

Interval = Annotated[tuple[Number, Number], Sequence]
"""From one number to another."""

Plain = Annotated[Any, AfterValidator(all_visible)]
"""Plain data that has a reader of its own. Its texts are lines of visible letters."""

Names = Annotated[tuple[Name, ...], Sequence, AfterValidator(distinct)]
"""Names, each of them once."""


Roles = Annotated[tuple[Name, ...], Sequence, Field(min_length=1), AfterValidator(distinct)]
"""Names of the records of a cluster."""


class PopulationStatement(Statement):
    """What every population may state: who vouches for it (`source`), and the columns it covers."""

    source: Line = ""
    covers: Names = ()


class InFile(Statement):
    """Numbers that stand in a file, named by its digest."""

    file: Name
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


def one_form(plain: object, forms: Iterable[tuple[str, str]], otherwise: str) -> str:
    """The first of `forms`, pairs of a key and a form, whose key `plain` has; else `otherwise`."""
    if isinstance(plain, dict):
        for key, form in forms:
            if key in plain:
                return form
    return otherwise


def listed(plain: object) -> str:
    """`list` for a list of values, else `single`."""
    return "list" if isinstance(plain, list | tuple) else "single"


def once_each(names: Iterable[Hashable], fault: Callable[[Any], str]) -> None:
    """Raises `ValueError` for the first name that comes a second time, in the words of `fault`."""
    seen: set[Hashable] = set()
    for name in names:
        if name in seen:
            raise ValueError(fault(name))
        seen.add(name)
