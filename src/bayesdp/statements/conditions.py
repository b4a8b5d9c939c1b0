"""The one grammar of `where`: comparisons of columns with literals, as a study or certificate says.

    role == 'child' and 150 <= height < 180
    not (steps > 0 or day in ['sat', 'sun'])
    `body height` > 180 and `class` == 3

`parse` reads a text into a tree, or refuses it with `ConditionError`: one line of visible letters
without comments, where each comparison has a column on exactly one side and a literal on the other.
Any name of a column may stand between backticks, and one that is not a plain word has to.
`against` holds a tree against the columns: numbers are compared with numbers, texts with texts, and
a column of declared states with its states; only numbers and dates have an order. Nothing else
reads a condition: the data engine, a study and the kernel all work on this tree.
"""

from __future__ import annotations

import ast
import io
import math
import operator as compare
import re
import tokenize
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from keyword import iskeyword
from typing import Annotated, Any, Literal, NoReturn

from pydantic import AfterValidator

from bayesdp.statements.base import MOST_EXACT, is_shown
from bayesdp.statements.times import days_of

Literals = bool | int | float | str
Reads = Literal["number", "text", "boolean"]

LANGUAGE = (
    "comparisons (==, !=, <, <=, >, >=, in, not in) of a declared column with numbers, texts or "
    "True and False, joined by and, or, not and parentheses"
)
"""What a condition may be, in words."""

SHOWN = f"{LANGUAGE}, in one line of visible letters"
TIME_WORDS = "a date such as '2026-02-01', or a time such as '2026-02-01 08:15:00'"
ORDERED = frozenset({"<", "<=", ">", ">="})
MOST_LETTERS = 10_000
MOST_NESTED = 50

_OPERATORS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.In: "in",
    ast.NotIn: "not in",
}
_MIRRORED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_NAMED = re.compile(
    r"""'''.*?'''|\"\"\".*?\"\"\"|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?P<name>[^`]+)`"""
)
"""A text in quotes, or a name between backticks."""
_EQUALS = re.compile(r"(?<![=<>!])=(?!=)")
"""An equals sign that stands alone, as it does in other languages' comparisons."""
_OTHERWISE = {
    "===": "==",
    "=>": ">=",
    "=<": "<=",
    "=!": "!=",
    "<>": "!=",
    "&&": "and",
    "||": "or",
}
"""Operators of other languages, none of which can stand in a condition, and what to write."""
BACKTICKS = "A column whose name is not a plain word stands between backticks: `body height`."
"""The remedy for a text that may hold such a name without them."""
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}( [0-9]{2}:[0-9]{2}:[0-9]{2})?")


@dataclass(frozen=True)
class Comparison:
    """A column compared with a literal, or with several after `in` and `not in`."""

    column: str
    operator: str
    values: tuple[Literals, ...]


@dataclass(frozen=True)
class Joined:
    """Conditions joined by `and` or `or`, or the single condition that `not` denies."""

    how: Literal["and", "or", "not"]
    parts: tuple[ConditionTree, ...]


ConditionTree = Comparison | Joined


@dataclass(frozen=True)
class Operand:
    """The facts about a column that a condition on it depends on.

    `reads` is what its values are, `None` where the conditions on it decide; `levels` are its
    values, `None` for any; `dated` where they are dates or times, which are numbers of days where
    `reads` says so; `indicator` where they are the 0
    and 1 of a condition, for which False and True may be written.
    """

    reads: Reads | None = None
    levels: tuple[Literals, ...] | None = None
    dated: bool = False
    indicator: bool = False


def _spelling(text: str) -> str:
    """The remedy for a text without its quoted parts, which is not a condition."""
    for other, right in _OTHERWISE.items():
        if other in text:
            return f"Write {right} instead of {other}."
    return "Write == to compare." if _EQUALS.search(text) else BACKTICKS


class ConditionError(ValueError):
    """A text that is not a condition on these columns.

    `shown` is what is wrong, `expected` what is due in its place, `remedy` a hint, and `choices`
    are the names or values that may have been meant.
    """

    def __init__(
        self,
        shown: object,
        expected: str = LANGUAGE,
        remedy: str = "",
        choices: Iterable[object] | None = None,
    ) -> None:
        super().__init__(f"a condition with {str(shown)[:80]!r} where {expected} is due")
        self.shown, self.expected, self.remedy = shown, expected, remedy
        self.choices = None if choices is None else tuple(map(str, choices))


def condition(text: str) -> str:
    """The text of a condition. Raises `ValueError` for a text that is not a condition."""
    parse(text)
    return text


ConditionText = Annotated[str, AfterValidator(condition)]
"""The text of a condition."""


def value_kind(value: object) -> Reads:
    """The kind of a literal: number, text or boolean."""
    if isinstance(value, bool):
        return "boolean"
    return "text" if isinstance(value, str) else "number"


def is_time(value: object) -> bool:
    """Whether this is the standard text of a date or time, midnight being the date alone."""
    if not isinstance(value, str) or not _TIME.fullmatch(value) or value.endswith(" 00:00:00"):
        return False
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


def comparisons(tree: ConditionTree) -> Iterator[Comparison]:
    """All comparisons of a condition, from left to right."""
    if isinstance(tree, Comparison):
        yield tree
    else:
        for part in tree.parts:
            yield from comparisons(part)


def columns_of(tree: ConditionTree) -> frozenset[str]:
    """The columns that a condition reads."""
    return frozenset(part.column for part in comparisons(tree))


def holds(tree: ConditionTree, row: Mapping[str, Any]) -> bool:
    """Whether a condition holds where the columns have these plain Python values."""
    if isinstance(tree, Joined):
        if tree.how == "not":
            return not holds(tree.parts[0], row)
        return (all if tree.how == "and" else any)(holds(part, row) for part in tree.parts)
    value = row[tree.column]
    if tree.operator in ("in", "not in"):
        return (value in tree.values) == (tree.operator == "in")
    return bool(COMPARE[tree.operator](value, tree.values[0]))


COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "==": compare.eq,
    "!=": compare.ne,
    "<": compare.lt,
    "<=": compare.le,
    ">": compare.gt,
    ">=": compare.ge,
}
"""What each comparison does, on Python values and on a table's expressions alike."""


def parse(text: str) -> ConditionTree:
    """The condition that the text spells. Raises `ConditionError` for any other text."""
    if not isinstance(text, str) or not text.strip():
        raise ConditionError(text)
    if len(text) > MOST_LETTERS:
        raise ConditionError(text, f"at most {MOST_LETTERS} characters")
    if not is_shown(text):
        raise ConditionError(text, SHOWN)
    return _parse(text.strip())


@lru_cache(maxsize=256)
def _parse(text: str) -> ConditionTree:
    return _Parser(text).tree()


class _Parser:
    """One text, which is one line without spaces around it."""

    def __init__(self, text: str) -> None:
        self.stem = "name"
        while self.stem in text:
            self.stem += "_"
        self.names: dict[str, str] = {}
        self.original = text
        self.text = _NAMED.sub(self.placeholder, text).strip()
        self.letters = self.text.encode()

    def placeholder(self, match: re.Match[str]) -> str:
        """A plain word in the place of a name between backticks. Texts in quotes stay."""
        if match["name"] is None:
            return match[0]
        word = f"{self.stem}{len(self.names)}"
        self.names[word] = match["name"]
        return f" {word} "

    def refuse(self, shown: object, expected: str = LANGUAGE, remedy: str = "") -> NoReturn:
        raise ConditionError(shown, expected, remedy)

    def tree(self) -> ConditionTree:
        try:
            with warnings.catch_warnings():  # what Python only warns of is written in error
                warnings.simplefilter("error")
                body = ast.parse(self.text, mode="eval").body
            tokens = []
            if "#" in self.text:  # else it has no comment
                tokens = list(tokenize.generate_tokens(io.StringIO(self.text).readline))
        except (SyntaxError, ValueError, MemoryError, RecursionError, Warning, tokenize.TokenError):
            once = _QUOTED.sub("", self.text)
            self.refuse(self.original, remedy=_spelling(once))
        for token in tokens:
            if token.type == tokenize.COMMENT:
                self.refuse(token.string, "a condition without a comment")
        return self.visit(body, 0)

    def visit(self, node: ast.expr, depth: int) -> ConditionTree:
        if depth > MOST_NESTED:
            self.refuse(self.original, f"at most {MOST_NESTED} levels of nesting")
        if isinstance(node, ast.BoolOp):
            parts = tuple(self.visit(value, depth + 1) for value in node.values)
            return Joined("and" if isinstance(node.op, ast.And) else "or", parts)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return Joined("not", (self.visit(node.operand, depth + 1),))
        if isinstance(node, ast.Compare):
            return self.compare(node)
        if isinstance(node, ast.Name):
            name = self.spelt(node)
            self.refuse(name, LANGUAGE, f"Write {name} == 1 or {name} == True.")
        self.refuse(self.spelt(node))

    def spelt(self, node: ast.expr) -> str:
        try:
            shown = ast.unparse(node)
        except RecursionError:
            return self.original
        for word in reversed(self.names):  # the longest first: name1 is the beginning of name10
            shown = shown.replace(word, f"`{self.names[word]}`")
        return shown

    def compare(self, node: ast.Compare) -> ConditionTree:
        sides = [node.left, *node.comparators]
        parts = tuple(
            self.pair(left, _OPERATORS[type(op)], right)
            if type(op) in _OPERATORS
            else self.refuse(self.spelt(node))
            for left, op, right in zip(sides, node.ops, sides[1:], strict=False)
        )
        return parts[0] if len(parts) == 1 else Joined("and", parts)

    def pair(self, first: ast.expr, written: str, second: ast.expr) -> Comparison:
        left, operator, right = first, written, second
        if not isinstance(left, ast.Name) and operator in _MIRRORED:
            left, operator, right = right, _MIRRORED[operator], left
        if not isinstance(left, ast.Name):
            shown = f"{self.spelt(first)} {written} {self.spelt(second)}"
            self.refuse(shown, "a column on one side of each comparison", BACKTICKS)
        name = self.name(left)
        if operator in ("in", "not in"):
            if not isinstance(right, ast.List | ast.Tuple | ast.Set) or not right.elts:
                self.refuse(self.spelt(right), "a list of literals after 'in'")
            return Comparison(name, operator, tuple(self.literal(item) for item in right.elts))
        return Comparison(name, operator, (self.literal(right),))

    def name(self, name: ast.Name) -> str:
        """The column's name, which has to stand there as Python reads it."""
        if name.id in self.names:
            return self.names[name.id]
        shown = self.letters[name.col_offset : name.end_col_offset].decode()
        if shown != name.id:
            self.refuse(shown, f"the name of a column as it is read: {name.id}")
        return name.id

    def literal(self, node: ast.expr) -> Literals:
        sign = 1
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            sign, node = (-1 if isinstance(node.op, ast.USub) else 1), node.operand
            if not isinstance(node, ast.Constant) or value_kind(node.value) != "number":
                self.refuse(self.spelt(node), "a literal number after the sign")
        if not isinstance(node, ast.Constant) or not isinstance(
            node.value, bool | int | float | str
        ):
            self.refuse(self.spelt(node), "a literal: a number, a text, True or False")
        value = node.value
        if isinstance(value, str) and self.stem in value and self.names:
            self.refuse(self.original, "no backticks in texts beside names between backticks")
        if isinstance(value, str) and not is_shown(value):
            self.refuse(value, "a text of visible letters, without joiners and signs of direction")
        if isinstance(value, bool | str):
            return value
        if (isinstance(value, int) and value > MOST_EXACT) or not math.isfinite(value):
            self.refuse(value, "a finite number, a whole one at most 2^53")
        return sign * value


def _days(time: str) -> int | float:
    """A date or time as a number of days."""
    days = days_of(datetime.fromisoformat(time))
    return int(days) if days.is_integer() else days


def is_plain_word(name: str) -> bool:
    """Whether a column of this name may stand in a condition without backticks."""
    return name.isidentifier() and name.isascii() and not iskeyword(name)


def text_of(tree: ConditionTree) -> str:
    """The text of a condition, as `parse` reads it."""
    if isinstance(tree, Joined):
        if tree.how == "not":
            return f"not ({text_of(tree.parts[0])})"
        return f" {tree.how} ".join(f"({text_of(part)})" for part in tree.parts)
    name = tree.column if is_plain_word(tree.column) else f"`{tree.column}`"
    values = ", ".join(map(repr, tree.values))
    return f"{name} {tree.operator} " + (f"[{values}]" if "in" in tree.operator else values)


def against(
    tree: ConditionTree, columns: Mapping[str, Operand]
) -> tuple[ConditionTree, dict[str, Reads]]:
    """The condition on these columns, and the type that each column is read as.

    Raises `ConditionError` where a comparison doesn't fit its column.
    """
    reads: dict[str, Reads] = {}
    return _against(tree, columns, reads), reads


def _against(
    tree: ConditionTree, columns: Mapping[str, Operand], reads: dict[str, Reads]
) -> ConditionTree:
    if isinstance(tree, Joined):
        return Joined(tree.how, tuple(_against(part, columns, reads) for part in tree.parts))
    name, operator, values = tree.column, tree.operator, tree.values
    column = columns.get(name)
    if column is None:
        raise ConditionError(name, "a declared column", choices=columns)
    if column.indicator:
        values = tuple(int(value) if isinstance(value, bool) else value for value in values)
    for value in values if column.dated else ():
        if not is_time(value) and (column.reads == "text" or isinstance(value, str)):
            raise ConditionError(value, TIME_WORDS, "Midnight is the date alone.")
    if column.dated and column.reads == "number":
        values = tuple(_days(value) if isinstance(value, str) else value for value in values)
    kind = column.reads or reads.get(name) or value_kind(values[0])
    for value in values:
        if value_kind(value) != kind:
            raise ConditionError(value, f"a {kind}, because '{name}' is compared as one")
    if kind != "number" and operator in ORDERED and not column.dated:
        raise ConditionError(
            f"{name} {operator} {values[0]!r}",
            f"==, != or in, because '{name}' is read as a {kind}",
            'Dates have an order in a column { role = "order", step = "1 day" }.'
            if is_time(values[0])
            else "",
        )
    if column.levels is not None and operator not in ORDERED:
        for value in values:
            if value not in column.levels:
                expected = f"a declared state of '{name}'"
                raise ConditionError(value, expected, choices=column.levels)
    reads[name] = kind
    return Comparison(name, operator, values)
