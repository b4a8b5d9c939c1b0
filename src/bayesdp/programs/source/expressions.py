"""Expressions: arithmetic, comparisons, conditions, generators, attributes."""

from __future__ import annotations

import ast
from dataclasses import replace
from fractions import Fraction

from bayesdp.errors import did_you_mean
from bayesdp.programs.ir import Adjacency, Constant, Expr, Type
from bayesdp.programs.source.diagnostics import place, refuse
from bayesdp.programs.source.literals import arithmetic, number
from bayesdp.programs.source.values import (
    BOOL,
    INT,
    REAL,
    TRUE,
    Data,
    Items,
    Level,
    Named,
    Parted,
    Row,
    Scalar,
    Thing,
    Value,
    constant,
    described,
    highest,
    scalar,
    static,
    static_of,
)

OPERATIONS: dict[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
}
PRIVATE_BRANCH = "Release it first (laplace, gaussian, ...), then decide on the released value."


class Scope:
    """What the names of one function body stand for."""

    def __init__(self, names: dict[str, Value], adjacency: Adjacency) -> None:
        self.names = names
        self.adjacency = adjacency

    def look_up(self, node: ast.Name) -> Value:
        """The value of a name, or a diagnostic with the nearest name."""
        if node.id in self.names:
            return self.names[node.id]
        raise refuse(
            "name",
            node,
            f"'{node.id}' is not known here.",
            did_you_mean(node.id, sorted(self.names))
            or "Names are parameters, assigned values and the names of bayesdp.programs.",
        )


class Expressions:
    """The meaning of expressions. Calls and statements are in the classes that build on it."""

    adjacency: Adjacency

    def call(self, node: ast.Call, scope: Scope) -> Value:
        """In `calls.py`."""
        raise NotImplementedError

    def value(self, node: ast.expr, scope: Scope) -> Value:
        """The value of an expression. Raises `ProgramError`."""
        if isinstance(node, ast.Constant):
            return self._literal(node)
        if isinstance(node, ast.Name):
            return scope.look_up(node)
        if isinstance(node, ast.Tuple | ast.List):
            return Items(tuple(self.value(one, scope) for one in node.elts))
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
        raise refuse("type", node, f"{ast.unparse(node)} is no value of the language.")

    def _unary(self, node: ast.UnaryOp, scope: Scope) -> Value:
        found = scalar(self.value(node.operand, scope), node.operand)
        if isinstance(node.op, ast.Not):
            self._decidable(found, node.operand)
            if found.level == "static":
                return static(not found.expr.data[0], node)
            return Scalar(found.level, self._op("not", node, found), BOOL, found.released)
        self.numeric(found, node.operand)
        if isinstance(node.op, ast.UAdd):
            return found
        if found.level == "static" and found.type.kind != "vector":
            return static(-self._fraction(found), node)
        return replace(found, expr=self._op("neg", node, found), type=_loose(found.type))

    def _binary(self, node: ast.BinOp, scope: Scope) -> Value:
        left, right = self.value(node.left, scope), self.value(node.right, scope)
        if isinstance(left, Items) and isinstance(right, Items) and isinstance(node.op, ast.Add):
            return Items(left.items + right.items)
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
            )
        return self.arithmetic(OPERATIONS[type(node.op)], node, a, b)

    def arithmetic(self, op: str, node: ast.AST, a: Scalar, b: Scalar) -> Scalar:
        """A op b, with the rules about private factors and divisors."""
        _unmixed(a.level, b.level, node)
        if op == "mul" and a.level == b.level == "private":
            raise refuse(
                "nonlinear",
                node,
                "A product of two private values has no bounded sensitivity rule here.",
                "Release one of them first, or multiply inside the row.",
            )
        if op == "div" and b.level in ("row", "private"):
            raise refuse(
                "nonlinear",
                node,
                "This divides by a value that depends on private data.",
                "Divide by a public or released value, or release both and divide afterwards.",
            )
        kinds = (a.type.kind, b.type.kind)
        if kinds == ("vector", "vector") and len(a.type.items) != len(b.type.items):
            raise refuse("type", node, "Two vectors of different lengths.", "")
        if kinds == ("vector", "vector") and op in ("mul", "div") and a.level != "public":
            raise refuse("nonlinear", node, "Vectors are added, or scaled by one public number.")
        level = highest(a.level, b.level)
        kind = _kind(op, a.type, b.type)
        return Scalar(level, self._op(op, node, a, b), kind, a.released or b.released)

    def _op(self, op: str, node: ast.AST, *args: Scalar, data: tuple[Constant, ...] = ()) -> Expr:
        return Expr(op, tuple(one.expr for one in args), data, place(node))

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

    # -- truth values ----------------------------------------------------------------------

    def _compare(self, node: ast.Compare, scope: Scope) -> Value:
        operands = [node.left, *node.comparators]
        values = [scalar(self.value(one, scope), one) for one in operands]
        parts = [
            self._comparison(OPERATIONS[type(op)], node, values[i], values[i + 1], operands[i])
            for i, op in enumerate(node.ops)
        ]
        return parts[0] if len(parts) == 1 else self._all("and", node, parts)

    def _comparison(self, op: str, node: ast.AST, a: Scalar, b: Scalar, at: ast.AST) -> Scalar:
        level = highest(a.level, b.level)
        if level == "private":
            raise refuse(
                "private-control",
                node,
                "A comparison with a private value is private, and nothing may depend on it.",
                PRIVATE_BRANCH,
            )
        if "vector" in (a.type.kind, b.type.kind):
            raise refuse("type", node, "Vectors are not compared.", "Compare their entries.")
        labels = [one for one in (a, b) if one.type.kind in ("category", "text")]
        if labels:
            if op not in ("eq", "ne") or len(labels) < 2:
                raise refuse("type", node, "A label is compared with a label, by == or !=.")
            self._known_label(a, b, node)
        if level == "static":
            return self._static_comparison(op, node, a, b)
        return Scalar(level, self._op(op, node, a, b), BOOL, a.released or b.released)

    def _known_label(self, a: Scalar, b: Scalar, node: ast.AST) -> None:
        for one, other in ((a, b), (b, a)):
            if one.type.kind == "category" and other.level == "static":
                label = str(other.expr.data[0])
                if label not in one.type.labels:
                    raise refuse(
                        "type",
                        node,
                        f"{label!r} is no label of this column.",
                        did_you_mean(label, one.type.labels)
                        or f"Its labels are {', '.join(one.type.labels)}.",
                    )

    def _static_comparison(self, op: str, node: ast.AST, a: Scalar, b: Scalar) -> Scalar:
        x, y = a.expr.data[0], b.expr.data[0]
        if isinstance(x, str) or isinstance(y, str):
            truth = (x == y) == (op == "eq")
        else:
            assert isinstance(x, bool | Fraction)
            assert isinstance(y, bool | Fraction)
            u, v = Fraction(x), Fraction(y)
            truth = {
                "lt": u < v, "le": u <= v, "gt": u > v, "ge": u >= v, "eq": u == v, "ne": u != v
            }[op]  # fmt: skip
        return Scalar("static", constant(truth, node), BOOL)

    def _boolean(self, node: ast.BoolOp, scope: Scope) -> Value:
        parts = []
        for one in node.values:
            found = scalar(self.value(one, scope), one, "a truth value")
            self._decidable(found, one)
            parts.append(found)
        return self._all("and" if isinstance(node.op, ast.And) else "or", node, parts)

    def _all(self, op: str, node: ast.AST, parts: list[Scalar]) -> Scalar:
        level = highest(*(one.level for one in parts))
        if level == "static":
            truths = [bool(one.expr.data[0]) for one in parts]
            return Scalar("static", constant(all(truths) if op == "and" else any(truths)), BOOL)
        return Scalar(level, self._op(op, node, *parts), BOOL, any(p.released for p in parts))

    def _decidable(self, value: Scalar, node: ast.AST) -> None:
        if value.level == "private":
            raise refuse(
                "private-control",
                node,
                "The truth of a private value is private, and nothing may depend on it.",
                PRIVATE_BRANCH,
            )
        if value.type.kind != "bool":
            raise refuse(
                "type",
                node,
                "A truth value is wanted; numbers and labels have none here.",
                "Write the comparison: x != 0.",
            )

    def truth(self, node: ast.expr, scope: Scope) -> Scalar:
        """A truth value, not private."""
        found = scalar(self.value(node, scope), node, "a truth value")
        self._decidable(found, node)
        return found

    def _choice(self, node: ast.IfExp, scope: Scope) -> Value:
        test = self.truth(node.test, scope)
        if test.level == "static":
            return self.value(node.body if test.expr.data[0] else node.orelse, scope)
        a = scalar(self.value(node.body, scope), node.body)
        b = scalar(self.value(node.orelse, scope), node.orelse)
        _unmixed(highest(a.level, b.level), test.level, node)
        if "private" in (a.level, b.level):
            raise refuse(
                "private-control",
                node,
                "A condition chooses between private values.",
                "Release first; or put the condition inside the row.",
            )
        if a.type.kind == "vector" or b.type.kind == "vector":
            raise refuse("type", node, "A condition chooses between numbers, not vectors.")
        if (a.type.kind in ("category", "text")) or (b.type.kind in ("category", "text")):
            raise refuse("type", node, "A condition chooses between numbers or truth values.")
        level = highest(test.level, a.level, b.level)
        both = a.type.kind == b.type.kind == "bool"
        kind = BOOL if both else _kind("add", a.type, b.type)
        released = test.released or a.released or b.released
        return Scalar(level, self._op("if", node, test, a, b), kind, released)

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
            "Attributes are the columns of a row (row.height) and a database's size (db.size).",
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
        counted = Expr(
            "count", (self.data_expr(data, constant(Fraction(1)), node),), (), place(node)
        )
        level: Level = "public" if self.is_public_data(data, constant(Fraction(1))) else "private"
        return Scalar(level, counted, INT)

    def is_public_data(self, data: Data, mapped: Expr) -> bool:
        """Whether a sum over this data moves under no adjacency."""
        if self.adjacency != "replace-one":
            return False
        public = self.public_columns
        return (
            all(column in public for column, _ in data.pieces)
            and _columns(data.filter) <= public
            and _columns(mapped) <= public
        )

    public_columns: frozenset[str]

    def data_expr(self, data: Data, mapped: Expr, node: ast.AST) -> Expr:
        """The `data` expression of a sequence with this row value."""
        return Expr("data", (data.filter, mapped), (data.pieces,), place(node))

    def _entry(self, node: ast.Subscript, scope: Scope) -> Value:
        of = self.value(node.value, scope)
        index = static_of(self.value(node.slice, scope))
        if not isinstance(index, Fraction) or index.denominator != 1:
            raise refuse("static", node, "An index is a whole number known beforehand.")
        place_in = int(index)
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

    def generator(self, node: ast.GeneratorExp | ast.ListComp, scope: Scope) -> Value:
        """A generator over data is data; one over a static sequence is a tuple."""
        first = node.generators[0]
        over = self.value(first.iter, scope)
        if isinstance(over, Data):
            if len(node.generators) != 1:
                raise refuse(
                    "construct",
                    node,
                    "A generator goes over private data once: pairs of records have no bound.",
                    "Write one `for`.",
                )
            return self._rows(node, first, over, scope)
        return self._static_generator(node, scope)

    def _static_generator(self, node: ast.GeneratorExp | ast.ListComp, scope: Scope) -> Value:
        """In `statements.py`, which knows static loops."""
        raise NotImplementedError

    def _rows(
        self,
        node: ast.GeneratorExp | ast.ListComp,
        part: ast.comprehension,
        data: Data,
        scope: Scope,
    ) -> Data:
        if not isinstance(part.target, ast.Name):
            if isinstance(part.target, ast.Tuple) and isinstance(data.row, Items | Scalar):
                inner = self._unpacked(part.target, data.row, scope)
            else:
                raise refuse("construct", part.target, "A generator names one row at a time.")
        else:
            inner = Scope({**scope.names, part.target.id: data.row}, scope.adjacency)
        tests = [data.filter] if data.filter != TRUE else []
        for condition in part.ifs:
            found = self.truth(condition, inner)
            if found.level != "static" or not found.expr.data[0]:
                tests.append(found.expr)
        filtered = TRUE if not tests else tests[0]
        if len(tests) > 1:
            filtered = Expr("and", tuple(tests), (), place(node))
        mapped = self.value(node.elt, inner)
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

    def _unpacked(self, target: ast.Tuple, row: Items | Scalar, scope: Scope) -> Scope:
        names = [one.id for one in target.elts if isinstance(one, ast.Name)]
        items = row.items if isinstance(row, Items) else ()
        if len(names) != len(target.elts) or len(names) != len(items):
            raise refuse("construct", target, "Names and entries don't match.")
        return Scope({**scope.names, **dict(zip(names, items, strict=True))}, scope.adjacency)


def _kind(op: str, a: Type, b: Type) -> Type:
    if "vector" in (a.kind, b.kind):
        items = a.items if a.kind == "vector" else b.items
        other = b if a.kind == "vector" else a
        others = other.items if other.kind == "vector" else (other,) * len(items)
        return Type(
            "vector", items=tuple(_kind(op, x, y) for x, y in zip(items, others, strict=True))
        )
    whole = all(one.kind in ("int", "bool") for one in (a, b)) and op != "div"
    return INT if whole else REAL


def _loose(kind: Type) -> Type:
    if kind.kind == "vector":
        return Type("vector", items=tuple(_loose(one) for one in kind.items))
    return REAL if kind.kind == "real" else INT


def _columns(expr: Expr) -> frozenset[str]:
    """The columns that a row expression reads."""
    found = {str(expr.data[0])} if expr.op == "field" else set()
    for one in expr.args:
        found |= _columns(one)
    return frozenset(found)


def _unmixed(a: Level, b: Level, node: ast.AST) -> None:
    if {a, b} == {"row", "private"}:
        raise refuse(
            "nonlinear",
            node,
            "This mixes the value of one record with a private value of all of them.",
            "Release the private value first, then use the released one.",
        )


__all__ = ["Expressions", "Named", "Parted", "Scope", "Thing"]
