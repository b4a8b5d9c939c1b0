"""Expressions: arithmetic, comparisons, conditions, generators, attributes."""

from __future__ import annotations

import ast
from dataclasses import replace
from fractions import Fraction

from bayesdp.errors import did_you_mean
from bayesdp.programs.ir import Adjacency, Command, Expr, Type, columns
from bayesdp.programs.source.conditions import Conditions
from bayesdp.programs.source.diagnostics import ProgramError, place, refuse, written
from bayesdp.programs.source.literals import arithmetic, number
from bayesdp.programs.source.scope import Scope
from bayesdp.programs.source.values import (
    BOOL,
    INT,
    REAL,
    TRUE,
    Data,
    Items,
    Level,
    Parted,
    Row,
    Scalar,
    Thing,
    Value,
    combined,
    constant,
    described,
    entries_of,
    highest,
    scalar,
    static,
    static_of,
    unmixed,
)

MOST_ENTRIES = 20_000
ROW_ENDED = "is one row, inside its generator only: no record is taken out of the data."

OPERATIONS: dict[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
}

RESULT = "Return it as it is: the result has its mean, sd, interval and samples."
ATTRIBUTES = "Attributes are the columns of a row (row.height) and a database's size (db.size)."


class Expressions(Conditions):
    """The meaning of expressions. Calls and statements are in the classes that build on it."""

    adjacency: Adjacency
    commands: list[Command]
    public_columns: frozenset[str]

    def call(self, node: ast.Call, scope: Scope) -> Value:
        """In `calls.py`."""
        raise NotImplementedError

    def value(self, node: ast.expr, scope: Scope) -> Value:
        """The value of an expression. Raises `ProgramError`."""
        if isinstance(node, ast.Constant):
            return self._literal(node)
        if isinstance(node, ast.Name):
            return _placed(scope.look_up(node), node)
        if isinstance(node, ast.Tuple | ast.List):
            entries = tuple(self.value(one, scope) for one in node.elts)
            return Items(entries, isinstance(node, ast.List))
        if isinstance(node, ast.UnaryOp):
            return self._unary(node, scope)
        if isinstance(node, ast.BinOp):
            return self._binary(node, scope)
        if isinstance(node, ast.Compare):
            return self._compare(node, scope)
        if isinstance(node, ast.BoolOp):
            return self._boolean(node, scope)
        if isinstance(node, ast.IfExp):
            return self._choice(node, scope)
        if isinstance(node, ast.Attribute):
            return self._attribute(node, scope)
        if isinstance(node, ast.Subscript):
            return self._entry(node, scope)
        if isinstance(node, ast.GeneratorExp | ast.ListComp):
            return self.generator(node, scope)
        if isinstance(node, ast.Call):
            return self.call(node, scope)
        if isinstance(node, ast.Lambda):
            raise refuse("construct", node, "A lambda stands only in score=.", "Write a @helper.")
        raise refuse("construct", node, f"'{type(node).__name__}' is not part of the language.")

    # -- plain parts ---------------------------------------------------------------------

    def _literal(self, node: ast.Constant) -> Value:
        if isinstance(node.value, bool | str):
            return static(node.value, node)
        if isinstance(node.value, int | float):
            return static(number(node), node)
        raise refuse("type", node, f"{written(node)} is no value of the language.")

    def _unary(self, node: ast.UnaryOp, scope: Scope) -> Value:
        found = scalar(self.value(node.operand, scope), node.operand)
        if isinstance(node.op, ast.Not):
            self.decidable(found, node.operand)
            if found.level == "static":
                return static(not found.expr.data[0], node)
            return Scalar(found.level, self.operation("not", node, found), BOOL, found.released)
        self.numeric(found, node.operand)
        if isinstance(node.op, ast.UAdd):
            return found
        if found.level == "static" and found.type.kind != "vector":
            return static(-self._fraction(found), node)
        return replace(
            found,
            level=_computed(found.level),
            expr=self.operation("neg", node, found),
            type=_loose(found.type),
        )

    def _binary(self, node: ast.BinOp, scope: Scope) -> Value:
        left, right = self.value(node.left, scope), self.value(node.right, scope)
        if isinstance(left, Items) and isinstance(right, Items) and isinstance(node.op, ast.Add):
            if len(left.items) + len(right.items) > MOST_ENTRIES:
                raise refuse("size", node, f"A tuple of more than {MOST_ENTRIES} entries.")
            return Items(left.items + right.items, left.changes)
        if isinstance(node.op, ast.Add | ast.Sub) and _tuple_and_number(left, right):
            raise refuse(
                "type", node, "A tuple and a number are not added.", "(a, b) + (c,) is one tuple."
            )
        if isinstance(node.op, ast.Mult):
            repeated = _repeated(left, right, node) or _repeated(right, left, node)
            if repeated is not None:
                return repeated
        if isinstance(node.op, ast.Mod) and _is_text(left):
            raise refuse(
                "effect", node, "A text made from values is a way out for them.", "Return values."
            )
        a, b = scalar(left, node.left), scalar(right, node.right)
        self.numeric(a, node.left)
        self.numeric(b, node.right)
        if a.level == b.level == "static" and "vector" not in (a.type.kind, b.type.kind):
            return static(arithmetic(node, self._fraction(a), self._fraction(b)), node)
        if type(node.op) not in OPERATIONS:
            if isinstance(node.op, ast.Pow) and static_of(right) == Fraction(2):
                return self.arithmetic("mul", node, a, a)
            raise refuse(
                "construct",
                node,
                "On data and released values the operations are + - * / and squares.",
                "A class of width 10 is sum(1 if x >= 10 * k else 0 for k in range(1, 10))."
                if isinstance(node.op, ast.FloorDiv) and a.level == "row"
                else "x ** 2 is a square; other functions are applied to what is returned.",
            )
        return self.arithmetic(OPERATIONS[type(node.op)], node, a, b)

    def arithmetic(self, op: str, node: ast.AST, a: Scalar, b: Scalar) -> Scalar:
        """A op b, with the rules about private factors and divisors."""
        unmixed([a.level, b.level], node)
        if op == "mul" and a.level == b.level == "private":
            raise refuse(
                "nonlinear",
                node,
                "A product of two private values has no bounded sensitivity rule here.",
                "Release one of them first, or multiply inside the row.",
            )
        read = columns(b.expr)
        shared = b.level == "row" and bool(read) and read <= self.public_columns
        if op == "div" and b.level in ("row", "private") and not shared:
            raise refuse(
                "nonlinear",
                node,
                "This divides by a value that depends on private data.",
                "Divide by a public or released value, or release both and divide afterwards.",
            )
        if op == "div" and b.type.kind == "bool":
            raise refuse("division", node, "This divides by a truth value, which may be 0.")
        kinds = (a.type.kind, b.type.kind)
        if kinds == ("vector", "vector") and len(a.type.items) != len(b.type.items):
            raise refuse("type", node, "Two vectors of different lengths.", "")
        if kinds == ("vector", "vector") and op in ("mul", "div") and a.level != "public":
            raise refuse("nonlinear", node, "Vectors are added, or scaled by one public number.")
        level = _computed(highest(a.level, b.level))
        kind = combined(op, a.type, b.type)
        return Scalar(level, self.operation(op, node, a, b), kind, a.released or b.released)

    def numeric(self, value: Scalar, node: ast.AST) -> None:
        """Refuse labels and texts where numbers are wanted."""
        kinds = [value.type, *value.type.items]
        if any(one.kind in ("category", "text") for one in kinds):
            raise refuse(
                "type",
                node,
                "A label is no number.",
                'Compare it (row.sex == "f"), or count it (onehot, categorical).',
            )

    def _fraction(self, value: Scalar) -> Fraction:
        found = value.expr.data[0]
        assert isinstance(found, bool | Fraction)
        return Fraction(found)

    # -- access ----------------------------------------------------------------------------

    def _attribute(self, node: ast.Attribute, scope: Scope) -> Value:
        of = self.value(node.value, scope)
        if isinstance(of, Row):
            return self.column(of, node.attr, node)
        if isinstance(of, Data) and node.attr == "size":
            return self.size(of, node)
        if isinstance(of, Data):
            raise refuse(
                "attribute",
                node,
                f"Private data has no '.{node.attr}'.",
                "Its size is `.size`; columns belong to rows: sum(row.height for row in people).",
            )
        raise refuse(
            "attribute",
            node,
            f"'.{node.attr}' of {described(of)} is not part of the language.",
            RESULT
            if isinstance(of, Thing) and of.kind in ("released-posterior", "samples")
            else ATTRIBUTES,
        )

    def column(self, row: Row, name: str, node: ast.AST) -> Scalar:
        """A column of a record."""
        fields = dict(row.fields)
        if name not in fields or name == "":
            raise refuse(
                "attribute",
                node,
                f"The record has no column '{name}'.",
                did_you_mean(name, sorted(one for one in fields if one))
                or "A scalar record is used as it is.",
            )
        return Scalar("row", Expr("field", (), (name,), place(node)), fields[name])

    def size(self, data: Data, node: ast.AST) -> Scalar:
        """How many rows: public under replace-one unless a private column decides it."""
        if self.adjacency == "replace-one" and not data.pieces and data.filter == TRUE:
            return Scalar("public", Expr("public", (), ("db.size",), place(node)), INT)
        one = constant(Fraction(1))
        counted = Expr("count", (self.data_expr(data, one, node),), (), place(node))
        level: Level = "public" if self.is_public_data(data, one) else "private"
        return Scalar(level, counted, INT, reads_released(counted))

    def is_public_data(self, data: Data, mapped: Expr) -> bool:
        """Whether a sum over this data moves under no adjacency."""
        if self.adjacency != "replace-one":
            return False
        public = self.public_columns
        return (
            all(column in public for column, _ in data.pieces)
            and columns(data.filter) <= public
            and columns(mapped) <= public
        )

    def data_expr(self, data: Data, mapped: Expr, node: ast.AST) -> Expr:
        """The `data` expression of a sequence with this row value."""
        return Expr("data", (data.filter, mapped), (data.pieces,), place(node))

    def _entry(self, node: ast.Subscript, scope: Scope) -> Value:
        of = self.value(node.value, scope)
        if isinstance(of, Data | Row):
            raise refuse(
                "private-output",
                node,
                f"{described(of).capitalize()} has no entries: one record is never taken out.",
                "Records are reached by sum, count and generators, columns by row.height.",
            )
        place_in = self._index(node.slice, scope)
        if isinstance(of, Items):
            if not -len(of.items) <= place_in < len(of.items):
                raise refuse("type", node, f"There are {len(of.items)} entries.", "")
            return of.items[place_in]
        if isinstance(of, Scalar) and of.type.kind == "vector":
            items = of.type.items
            if not -len(items) <= place_in < len(items):
                raise refuse("type", node, f"The vector has {len(items)} entries.", "")
            taken = place_in % len(items)
            if of.expr.op == "tuple":
                return replace(of, expr=of.expr.args[taken], type=items[taken])
            expr = Expr("item", (of.expr,), (Fraction(taken),), place(node))
            return replace(of, expr=expr, type=items[taken])
        raise refuse("type", node, f"{described(of).capitalize()} has no entries.".strip())

    def _index(self, node: ast.expr, scope: Scope) -> int:
        found = self.value(node, scope)
        if isinstance(found, Scalar) and found.level in ("row", "private"):
            raise refuse(
                "private-control",
                node,
                "This index is private: which entry is taken would tell about the data.",
                "Release it first; then choose by a condition: a if k > 1 else b.",
            )
        if isinstance(found, Scalar) and found.released:
            raise refuse(
                "static",
                node,
                "This index depends on a released value, and an index is known beforehand.",
                "Choose by a condition on it: a if k > 1 else b.",
            )
        index = static_of(found)
        if not isinstance(index, Fraction) or index.denominator != 1:
            raise refuse("static", node, "An index is a whole number known beforehand.")
        return int(index)

    def generator(self, node: ast.GeneratorExp | ast.ListComp, scope: Scope) -> Value:
        """A generator over data is data; one over a static sequence is a tuple."""
        first = node.generators[0]
        over = self.sequence(first.iter, scope)
        if isinstance(over, Data):
            if len(node.generators) != 1:
                raise pairs(node)
            found = self._rows(node, first, over, scope)
            scope.ended(first.target, ROW_ENDED)
            return found
        return self.listed(node, over, scope)

    def sequence(self, node: ast.expr, scope: Scope) -> Data | Parted | tuple[Value, ...]:
        """In `flow.py`: what a loop goes over."""
        raise NotImplementedError

    def listed(
        self,
        node: ast.GeneratorExp | ast.ListComp,
        over: Parted | tuple[Value, ...],
        scope: Scope,
    ) -> Value:
        """In `flow.py`: a generator over a static sequence."""
        raise NotImplementedError

    def _rows(
        self,
        node: ast.GeneratorExp | ast.ListComp,
        part: ast.comprehension,
        data: Data,
        scope: Scope,
    ) -> Data:
        before = len(self.commands)
        inner = self.row_scope(part.target, data, scope)
        tests = [data.filter] if data.filter != TRUE else []
        for condition in part.ifs:
            found = self.truth(condition, inner)
            if found.level != "static" or not found.expr.data[0]:
                tests.append(found.expr)
        filtered = TRUE if not tests else tests[0]
        if len(tests) > 1:
            filtered = Expr("and", tuple(tests), (), place(node))
        mapped = self.value(node.elt, inner)
        if len(self.commands) != before:
            raise refuse(
                "construct",
                node,
                "A release inside a generator would be made anew for each record.",
                "Release before it, and use the released value inside.",
            )
        if isinstance(mapped, Row):
            return Data(data.pieces, filtered, mapped)
        row = scalar(mapped, node.elt, "a value of the row")
        if row.level == "private":
            raise refuse(
                "nonlinear",
                node.elt,
                "A private value of all records stands inside one record's value.",
                "Release it first.",
            )
        if isinstance(mapped, Items):
            return Data(data.pieces, filtered, mapped)
        return Data(data.pieces, filtered, replace(row, level="row"))

    def row_scope(self, target: ast.expr, data: Data, scope: Scope) -> Scope:
        """The scope in which a generator's names stand for one row."""
        if isinstance(target, ast.Name):
            return scope.inside_rows(**{target.id: data.row})
        if not isinstance(target, ast.Tuple) or not isinstance(data.row, Items | Scalar):
            raise refuse("construct", target, "A generator names one row at a time.")
        parts = self.entries(data.row, target)
        names = [one.id for one in target.elts if isinstance(one, ast.Name)]
        if len(names) != len(target.elts) or len(names) != len(parts):
            raise refuse("construct", target, f"A row here has {len(parts)} entries.")
        return scope.inside_rows(**dict(zip(names, parts, strict=True)))

    def entries(self, found: Value, node: ast.AST) -> tuple[Value, ...]:
        """The entries of a tuple or vector."""
        if isinstance(found, Items):
            return found.items
        if isinstance(found, Scalar) and found.type.kind == "vector":
            return entries_of(found, place(node))
        raise refuse("type", node, f"{described(found).capitalize()} can't be unpacked.")


def pairs(node: ast.AST) -> ProgramError:
    """The refusal of a second walk over the data inside the first."""
    return refuse(
        "construct",
        node,
        "A generator goes over private data once: pairs of records have no bound.",
        "Write one `for` over the data; a sum of squares or products is taken inside one row.",
    )


def reads_released(expr: Expr) -> bool:
    """Whether a released or derived value stands in an expression."""
    if expr.op == "public" and expr.data[0] != "db.size":
        return True
    return any(reads_released(one) for one in expr.args)


def _placed(value: Value, node: ast.Name) -> Value:
    """The value, with the place of its use where it is public: messages point there.

    Private values stay the same objects, for `Scalar.model` knows them by that.
    """
    named = isinstance(value, Thing) and value.expr.op == "public"
    known = isinstance(value, Scalar) and value.level in ("static", "public")
    if named or known:
        assert isinstance(value, Scalar | Thing)
        return replace(value, expr=replace(value.expr, where=place(node)))
    return value


def _tuple_and_number(left: Value, right: Value) -> bool:
    kinds = (isinstance(left, Items), isinstance(right, Items))
    vectors = [isinstance(x, Scalar) and x.type.kind == "vector" for x in (left, right)]
    return any(kinds) and not all(kinds) and not any(vectors)


def _repeated(items: Value, times: Value, node: ast.AST) -> Items | None:
    """(1,) * 6 as in Python: six entries."""
    count = static_of(times)
    if not isinstance(items, Items) or not isinstance(count, Fraction) or count.denominator != 1:
        return None
    if len(items.items) * count > MOST_ENTRIES:
        raise refuse("size", node, f"A tuple of more than {MOST_ENTRIES} entries.")
    return Items(items.items * int(count))


def _is_text(value: Value) -> bool:
    return isinstance(value, Scalar) and value.type.kind == "text"


def _computed(level: Level) -> Level:
    """The level of what is left to compute: static values are literals."""
    return "public" if level == "static" else level


def _loose(kind: Type) -> Type:
    if kind.kind == "vector":
        return Type("vector", items=tuple(_loose(one) for one in kind.items))
    return REAL if kind.kind == "real" else INT
