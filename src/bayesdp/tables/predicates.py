"""The small language of `where`: comparisons of declared columns with literals.

    role == 'child' and 150 <= height < 180
    not (steps > 0 or day in ['sat', 'sun'])

A predicate reads values as the sums do: after imputation and clipping. Texts are compared with
texts and numbers with numbers; a value compared with a column of declared states must be one of
them. An order column whose step is a time is compared with dates and times, such as '2026-02-01' or
'2026-02-01 08:15:00'. Everything else is refused with `InputError`. A derived `where` column reads
as 0 and 1.

Public name: `Predicate`.
"""

from __future__ import annotations

import ast
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from bayesdp.errors import InputError, did_you_mean
from bayesdp.tables.columns import TIME_WORDS, Column, Value, is_time, value_kind
from bayesdp.tables.literals import literal

if TYPE_CHECKING:
    import ibis.expr.types as ir

ALLOWED = (
    "comparisons (==, !=, <, <=, >, >=, in, not in) of a declared column with numbers, texts or "
    "True and False, joined by and, or, not and parentheses"
)
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
_ORDERED = ("<", "<=", ">", ">=")
_MAX_LENGTH = 10_000
_MAX_DEPTH = 50

Reads = Literal["number", "text", "boolean"]


@dataclass(frozen=True)
class _Comparison:
    column: str
    operator: str
    values: tuple[Value, ...]


@dataclass(frozen=True)
class _Joined:
    how: Literal["and", "or", "not"]
    parts: tuple[_Comparison | _Joined, ...]


@dataclass(frozen=True)
class Predicate:
    """A checked predicate: `text` as written, and `reads`, the columns it reads with their type."""

    text: str
    reads: tuple[tuple[str, Reads], ...]
    _tree: _Comparison | _Joined

    @property
    def columns(self) -> frozenset[str]:
        """The names of the columns that the predicate reads."""
        return frozenset(name for name, _ in self.reads)

    @classmethod
    def parse(cls, text: str, columns: Mapping[str, Column], key: str = "where") -> Predicate:
        """The predicate that `text` spells over the declared `columns`.

        Raises `InputError` at `key`: unknown column, undeclared state, text against number,
        anything outside the language.
        """
        return _Parser(text, columns, key).predicate()

    def to_ibis(self, values: Mapping[str, ir.Value]) -> ir.BooleanValue:
        """The predicate over the read values of its columns (doubles, texts or booleans)."""
        return _to_ibis(self._tree, values)

    def possible(self, column: str, values: Sequence[Value]) -> tuple[Value, ...]:
        """Those of the column's `values` for which the predicate can hold, whatever else is so."""
        return tuple(one for one in values if _truth(self._tree, column, one) is not False)

    def holds(self, row: Mapping[str, Any]) -> bool:
        """The predicate on one row of plain Python values (the reference for tests)."""
        return _holds(self._tree, row)


class _Parser:
    def __init__(self, text: str, columns: Mapping[str, Column], key: str) -> None:
        self.text, self.columns, self.key = text, columns, key
        self.reads: dict[str, Reads] = {}

    def refuse(self, what: object, expected: str = ALLOWED, remedy: str = "") -> NoReturn:
        raise InputError(self.key, what, expected=expected, remedy=remedy)

    def predicate(self) -> Predicate:
        if not isinstance(self.text, str) or not self.text.strip():
            self.refuse(self.text)
        if len(self.text) > _MAX_LENGTH:
            self.refuse(self.text, f"at most {_MAX_LENGTH} characters")
        try:
            body = ast.parse(self.text.strip(), mode="eval").body
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            self.refuse(self.text)
        tree = self.visit(body, 0)
        return Predicate(self.text, tuple(sorted(self.reads.items())), tree)

    def visit(self, node: ast.expr, depth: int) -> _Comparison | _Joined:
        if depth > _MAX_DEPTH:
            self.refuse(self.text, f"at most {_MAX_DEPTH} levels of nesting")
        if isinstance(node, ast.BoolOp):
            parts = tuple(self.visit(value, depth + 1) for value in node.values)
            return _Joined("and" if isinstance(node.op, ast.And) else "or", parts)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return _Joined("not", (self.visit(node.operand, depth + 1),))
        if isinstance(node, ast.Compare):
            return self.compare(node)
        if isinstance(node, ast.Name):
            self.refuse(node.id, ALLOWED, f"Write {node.id} == 1 or {node.id} == True.")
        self.refuse(ast.unparse(node))

    def compare(self, node: ast.Compare) -> _Comparison | _Joined:
        sides = [node.left, *node.comparators]
        parts = tuple(
            self.pair(left, _OPERATORS[type(op)], right)
            if type(op) in _OPERATORS
            else self.refuse(ast.unparse(node))
            for left, op, right in zip(sides, node.ops, sides[1:], strict=False)
        )
        return parts[0] if len(parts) == 1 else _Joined("and", parts)

    def pair(self, left: ast.expr, operator: str, right: ast.expr) -> _Comparison:
        if not isinstance(left, ast.Name) and operator in _MIRRORED:
            left, operator, right = right, _MIRRORED[operator], left
        if not isinstance(left, ast.Name):
            self.refuse(ast.unparse(left), "a column on one side of each comparison")
        if operator in ("in", "not in"):
            if not isinstance(right, ast.List | ast.Tuple | ast.Set) or not right.elts:
                self.refuse(ast.unparse(right), "a list of literals after 'in'")
            values = tuple(self.literal(item) for item in right.elts)
        else:
            values = (self.literal(right),)
        return self.checked(left.id, operator, values)

    def literal(self, node: ast.expr) -> Value:
        sign = 1
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            sign, node = (-1 if isinstance(node.op, ast.USub) else 1), node.operand
            if not isinstance(node, ast.Constant) or value_kind(node.value) != "number":
                self.refuse(ast.unparse(node), "a literal number after the sign")
        if not isinstance(node, ast.Constant) or not isinstance(
            node.value, bool | int | float | str
        ):
            self.refuse(ast.unparse(node), "a literal: a number, a text, True or False")
        value = node.value
        if isinstance(value, bool | str):
            return value
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number) or (isinstance(value, int) and abs(value) > 2**53):
            self.refuse(value, "a finite number, a whole one at most 2^53")
        return sign * value

    def checked(self, name: str, operator: str, values: tuple[Value, ...]) -> _Comparison:
        column = self.columns.get(name)
        if column is None:
            self.refuse(name, "a declared column", did_you_mean(name, self.columns))
        if column.kind == "where":  # the states of a boolean column are 0 and 1
            values = tuple(int(v) if isinstance(v, bool) else v for v in values)
        for value in values if column.is_dated else ():
            if not is_time(value):
                self.refuse(value, TIME_WORDS, "Midnight is the date alone.")
        reads = column.reads or self.reads.get(name) or value_kind(values[0])
        for value in values:
            if value_kind(value) != reads:
                self.refuse(value, f"a {reads}, because '{name}' is compared as one")
        if reads != "number" and operator in _ORDERED and not column.is_dated:
            self.refuse(
                f"{name} {operator} {values[0]!r}",
                f"==, != or in, because '{name}' is read as a {reads}",
                'Dates have an order in a column { role = "order", step = "1 day" }.'
                if is_time(values[0])
                else "",
            )
        levels = column.levels
        if levels is not None and operator in ("==", "!=", "in", "not in"):
            for value in values:
                if value not in levels:
                    known = [str(level) for level in levels]
                    self.refuse(
                        value, f"a declared state of '{name}'", did_you_mean(str(value), known)
                    )
        self.reads[name] = reads
        return _Comparison(name, operator, values)


def _holds(tree: _Comparison | _Joined, row: Mapping[str, Any]) -> bool:
    if isinstance(tree, _Joined):
        if tree.how == "not":
            return not _holds(tree.parts[0], row)
        return (all if tree.how == "and" else any)(_holds(part, row) for part in tree.parts)
    found, value = row[tree.column], tree.values[0]
    if tree.operator in ("in", "not in"):
        return (found in tree.values) == (tree.operator == "in")
    return bool(_COMPARE[tree.operator](found, value))


def _truth(tree: _Comparison | _Joined, column: str, value: Value) -> bool | None:
    """Whether it holds where the column has this value; `None` where other columns decide.

    The kernel knows no order of texts, so neither does this.
    """
    if isinstance(tree, _Comparison):
        if isinstance(value, str) and tree.operator in _ORDERED:
            return None
        return _holds(tree, {column: value}) if tree.column == column else None
    parts = [_truth(part, column, value) for part in tree.parts]
    if tree.how == "not":
        return None if parts[0] is None else not parts[0]
    decides = tree.how == "or"
    if decides in parts:
        return decides
    return None if None in parts else not decides


_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "==": lambda x, y: x == y,
    "!=": lambda x, y: x != y,
    "<": lambda x, y: x < y,
    "<=": lambda x, y: x <= y,
    ">": lambda x, y: x > y,
    ">=": lambda x, y: x >= y,
}


def _to_ibis(tree: _Comparison | _Joined, values: Mapping[str, Any]) -> Any:
    if isinstance(tree, _Joined):
        parts = [_to_ibis(part, values) for part in tree.parts]
        if tree.how == "not":
            return ~parts[0]
        return functools.reduce((lambda x, y: x & y) if tree.how == "and" else _or, parts)
    read = values[tree.column]
    if tree.operator in ("in", "not in"):
        member = read.isin([literal(value) for value in tree.values])
        return member if tree.operator == "in" else ~member
    return _COMPARE[tree.operator](read, literal(tree.values[0]))


def _or(x: Any, y: Any) -> Any:
    return x | y
