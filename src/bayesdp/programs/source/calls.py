"""Calls of the language's functions on data, models and numbers. Releases are in `releases.py`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod

from bayesdp.errors import did_you_mean
from bayesdp.programs.ir import Expr, Type
from bayesdp.programs.source.diagnostics import ProgramError, place, refuse, written
from bayesdp.programs.source.expressions import Expressions
from bayesdp.programs.source.literals import Literal
from bayesdp.programs.source.scope import Scope
from bayesdp.programs.source.values import (
    INT,
    REAL,
    TRUE,
    Data,
    Items,
    Named,
    Parted,
    Row,
    Scalar,
    Thing,
    Value,
    combined,
    constant,
    described,
    highest,
    scalar,
    static_of,
)

ONE = constant(Fraction(1))
MOST_LISTED = 6
MOST_CELLS = 1024
PAIRS = {
    "bernoulli": ("beta",),
    "categorical": ("dirichlet",),
    "normal": ("normal",),
    "poisson": ("gamma",),
    "linear_model": ("normal",),
}
"""Which prior each likelihood has an exact posterior for."""
BY_A_MODEL = (
    "Noisy answers are observed, observe(answers, bernoulli, prior=...), or returned one by one as "
    "Private[Vector]; sums and counts are taken of what is returned."
)
POSTERIOR = {"beta": "Beta", "dirichlet": "Dirichlet", "normal": "Normal", "gamma": "Gamma"}


@dataclass(frozen=True)
class Bound:
    """The arguments of one call, by name."""

    node: ast.Call
    given: dict[str, ast.expr]
    extra: tuple[ast.expr, ...] = ()


def bind(
    node: ast.Call, names: Sequence[str], *, needed: int, keyword: Sequence[str] = ()
) -> Bound:
    """Positional arguments by `names`, then keyword ones; diagnostics for what doesn't fit."""
    call = node.func.id if isinstance(node.func, ast.Name) else "this"
    if len(node.args) > len(names):
        raise refuse(
            "arguments",
            node,
            f"{call} takes {len(names)} positional argument{'s' * (len(names) != 1)}.",
            f"They are {', '.join(names) or 'none'}"
            + (f"; by keyword {', '.join(keyword)}." if keyword else "."),
        )
    given: dict[str, ast.expr] = dict(zip(names, node.args, strict=False))
    known = (*names, *keyword)
    for one in node.keywords:
        if one.arg is None:
            raise refuse(
                "construct", one, "Starred arguments are not part of the language.", "List them."
            )
        if one.arg not in known:
            raise refuse(
                "arguments",
                one,
                f"{call} has no argument {one.arg!r}.",
                did_you_mean(str(one.arg), known) or f"It has {', '.join(known)}.",
            )
        if one.arg in given:
            raise refuse("arguments", one, f"{call} is given {one.arg} twice.")
        given[one.arg] = one.value
    for name in names[:needed]:
        if name not in given:
            raise refuse("arguments", node, f"{call} needs {name}.", f"{call}({', '.join(names)})")
    return Bound(node, given)


class Calls(Expressions):
    """What each function of the language means."""

    def call(self, node: ast.Call, scope: Scope) -> Value:
        """The value of a call."""
        if not isinstance(node.func, ast.Name):
            grown = isinstance(node.func, ast.Attribute) and node.func.attr in ("append", "extend")
            name = written(node.func.value) if isinstance(node.func, ast.Attribute) else ""
            raise refuse(
                "attribute",
                node.func,
                "Values have no methods here.",
                f"Write {name} = {name} + (value,)."
                if grown and name.isidentifier()
                else "Call a function of bayesdp.programs or a @helper by its name.",
            )
        function = scope.look_up(node.func)
        if not isinstance(function, Named):
            raise refuse("type", node.func, f"'{node.func.id}' is {described(function)}.", "")
        if function.kind == "helper":
            return self.inline(function.name, node, scope)
        method: Callable[[ast.Call, Scope], Value] | None = getattr(
            self, f"call_{function.name}", None
        )
        if method is None:
            raise refuse("type", node.func, f"'{function.name}' is not called.", "")
        return method(node, scope)

    def inline(self, name: str, node: ast.Call, scope: Scope) -> Value:
        """In `lower.py`."""
        raise NotImplementedError

    # -- data ------------------------------------------------------------------------------

    def data(self, node: ast.expr, scope: Scope) -> Data:
        """An argument that is a sequence of private rows."""
        found = self.value(node, scope)
        if isinstance(found, Data):
            return found
        raise refuse(
            "type",
            node,
            f"Here stands {described(found)}, and private data is wanted.",
            BY_A_MODEL
            if _is_answers(found)
            else "Write the database or a generator over it: (row.height for row in people).",
        )

    def rows(self, data: Data, node: ast.AST) -> tuple[Expr, Type]:
        """The value of one row as an expression; a record as such is none."""
        if isinstance(data.row, Row):
            raise refuse(
                "type",
                node,
                "A record is no number.",
                "Take a column: (row.height for row in people).",
            )
        found = scalar(data.row, node)
        return found.expr, found.type

    def call_sum(self, node: ast.Call, scope: Scope) -> Value:
        """sum(data): private, unless only public columns are read; of a static tuple: a number."""
        over = self.value(bind(node, ["data"], needed=1).given["data"], scope)
        if isinstance(over, Items):
            parts = [scalar(one, node) for one in over.items]
            for one in parts:
                self.numeric(one, node)
            return self._added(node, parts)
        if isinstance(over, Scalar) and over.type.kind == "vector" and over.level != "row":
            parts = [
                replace(over, expr=Expr("item", (over.expr,), (Fraction(i),)), type=kind)
                for i, kind in enumerate(over.type.items)
            ]
            return self._added(node, parts)
        if not isinstance(over, Data):
            answers = BY_A_MODEL if _is_answers(over) else ""
            raise refuse("type", node, f"{described(over).capitalize()} has no sum.", answers)
        mapped, kind = self.rows(over, node)
        self.numeric(Scalar("row", mapped, kind), node)
        return self.summed(over, mapped, kind, node)

    def summed(self, data: Data, mapped: Expr, kind: Type, node: ast.AST) -> Scalar:
        """The sum of a row value over data."""
        total = Expr("sum", (self.data_expr(data, mapped, node),), (), place(node))
        level = "public" if self.is_public_data(data, mapped) else "private"
        of = (
            Type("vector", items=tuple(sum_type(one) for one in kind.items))
            if kind.kind == "vector"
            else sum_type(kind)
        )
        return Scalar("public" if level == "public" else "private", total, of)

    def _added(self, node: ast.AST, parts: list[Scalar]) -> Value:
        total = Scalar("static", constant(Fraction(0)), INT)
        for one in parts:
            if one.level == "static" and total.level == "static":
                x, y = total.expr.data[0], one.expr.data[0]
                assert isinstance(x, bool | Fraction)
                assert isinstance(y, bool | Fraction)
                value = Fraction(x) + Fraction(y)
                kind = INT if value.denominator == 1 else REAL
                total = Scalar("static", constant(value, node), kind)
            else:
                total = self.arithmetic("add", node, total, one)
        return total

    def call_count(self, node: ast.Call, scope: Scope) -> Value:
        """count(data): how many rows; of truth values: how many are true."""
        data = self.data(bind(node, ["data"], needed=1).given["data"], scope)
        # The kept rows of a filtered Database[Bool] are rows: (x for x in obs if not x).
        rows = isinstance(data.row, Scalar) and data.row.expr.data == ("",) and data.filter != TRUE
        if isinstance(data.row, Scalar) and data.row.type.kind == "bool" and not rows:
            return self.summed(data, data.row.expr, INT, node)
        return self.size(data, node)

    def call_len(self, node: ast.Call, scope: Scope) -> Value:
        """len(tuple) is static; a database has .size."""
        found = self.value(bind(node, ["items"], needed=1).given["items"], scope)
        if isinstance(found, Items):
            return Scalar("static", constant(Fraction(len(found.items)), node), INT)
        if isinstance(found, Scalar) and found.type.kind == "vector":
            return Scalar("static", constant(Fraction(len(found.type.items)), node), INT)
        if isinstance(found, Data):
            return self.size(found, node)
        raise refuse("type", node, f"{described(found).capitalize()} has no length.")

    def call_partition(self, node: ast.Call, scope: Scope) -> Value:
        """partition(db, by="column"): the pieces, one for each label of the column."""
        bound = bind(node, ["data", "by"], needed=2)
        data = self.data(bound.given["data"], scope)
        column = static_of(self.value(bound.given["by"], scope))
        if not isinstance(data.row, Row) or not isinstance(column, str):
            raise refuse(
                "arguments",
                node,
                "partition takes a database of records and the name of one column.",
                'partition(people, by="region").',
            )
        kind = self.column(data.row, column, bound.given["by"]).type
        if kind.kind == "category":
            labels = kind.labels
        elif kind.kind == "bool":
            labels = ("False", "True")
        else:
            raise _unlisted(column, kind, node)
        return Parted(data, column, labels, kind.public)

    def call_field(self, node: ast.Call, scope: Scope) -> Value:
        """field(row, "name"): a column by its name."""
        bound = bind(node, ["row", "name"], needed=2)
        row = self.value(bound.given["row"], scope)
        name = static_of(self.value(bound.given["name"], scope))
        if not isinstance(row, Row) or not isinstance(name, str):
            raise refuse("arguments", node, 'field takes a row and a name: field(row, "height").')
        return self.column(row, name, node)

    def call_fold(self, node: ast.Call, scope: Scope) -> Value:
        """fold(data, start, step): step is a @helper of the value so far and one row."""
        bound = bind(node, ["data", "start", "step"], needed=3)
        data = self.data(bound.given["data"], scope)
        start = static_of(self.value(bound.given["start"], scope))
        if not isinstance(start, Fraction):
            raise refuse("static", bound.given["start"], "fold starts from a literal number.")
        step = (
            self.value(bound.given["step"], scope)
            if isinstance(bound.given["step"], ast.Name)
            else None
        )
        if not isinstance(step, Named) or step.kind != "helper":
            raise refuse("arguments", bound.given["step"], "fold's step is the name of a @helper.")
        # Whole numbers stay whole if a step makes a whole number of one.
        counted = INT if start.denominator == 1 else REAL
        so_far = Scalar("row", Expr("acc", (), (), place(node)), counted)
        found = scalar(self.apply(step.name, [so_far, data.row], node), node)
        if found.type.kind == "vector":
            raise refuse("type", node, "fold's step gives one number.")
        folded = self.data_expr(data, constant(Fraction(1)), node)
        kind = combined("add", counted, found.type)
        return Scalar("private", Expr("fold", (folded, found.expr), (start,), place(node)), kind)

    def apply(self, helper: str, values: Sequence[Value], node: ast.AST) -> Value:
        """In `lower.py`: a helper applied to values."""
        raise NotImplementedError

    # -- numbers -----------------------------------------------------------------------------

    def call_clip(self, node: ast.Call, scope: Scope) -> Value:
        """clip(value, low, high)."""
        bound = bind(node, ["value", "low", "high"], needed=3)
        value = scalar(self.value(bound.given["value"], scope), bound.given["value"])
        ends = [scalar(self.value(bound.given[one], scope), node) for one in ("low", "high")]
        for one, at in zip(ends, ("low", "high"), strict=True):
            if one.level in ("row", "private"):
                raise refuse(
                    "private-parameter",
                    bound.given[at],
                    "The ends of a clip depend on private data.",
                    "Use literals, public or released values.",
                )
            self.numeric(one, bound.given[at])
        self.numeric(value, bound.given["value"])
        low, high = ends
        if "vector" in (value.type.kind, low.type.kind, high.type.kind):
            raise refuse("type", node, "clip takes one number.", "Clip the entries.")
        if low.level == high.level == "static" and number_of(low) > number_of(high):
            raise refuse("bounds", node, "The lower end of the clip lies above the upper one.")
        level = highest(value.level, low.level, high.level)
        kind = _plain(value.type, low.type, high.type)
        if kind == INT and low.level == high.level == "static":
            kind = Type("int", number_of(low), number_of(high))
        released = value.released or low.released or high.released
        if level == "static":
            clipped = min(max(number_of(value), number_of(low)), number_of(high))
            return Scalar("static", constant(clipped, node), kind)
        expr = Expr("clip", (value.expr, low.expr, high.expr), (), place(node))
        return Scalar(level, expr, kind, released)

    def call_abs(self, node: ast.Call, scope: Scope) -> Value:
        """abs(value)."""
        value = scalar(self.value(bind(node, ["value"], needed=1).given["value"], scope), node)
        self.numeric(value, node)
        if value.type.kind == "vector":
            raise refuse("type", node, "abs takes one number.")
        if value.level == "static":
            return Scalar("static", constant(abs(number_of(value)), node), _plain(value.type))
        return replace(
            value, expr=Expr("abs", (value.expr,), (), place(node)), type=_plain(value.type)
        )

    def call_min(self, node: ast.Call, scope: Scope) -> Value:
        """min(a, b, ...)."""
        return self._extreme("min", node, scope)

    def call_max(self, node: ast.Call, scope: Scope) -> Value:
        """max(a, b, ...)."""
        return self._extreme("max", node, scope)

    def _extreme(self, op: str, node: ast.Call, scope: Scope) -> Value:
        if node.keywords or not node.args:
            raise refuse("arguments", node, f"{op} takes the values: {op}(a, b).")
        given = [self.value(one, scope) for one in node.args]
        if len(given) == 1 and isinstance(given[0], Items) and given[0].items:
            given = list(given[0].items)
        elif len(given) == 1 and not isinstance(given[0], Data):
            raise refuse("arguments", node, f"{op} takes two values or more: {op}(a, b).", "")
        if len(given) == 1 and isinstance(given[0], Data):
            raise refuse(
                "bounds",
                node,
                f"The {op} over all records can move by the whole range when one record changes.",
                "Use a score: exponential(score=..., candidates=..., epsilon=...).",
            )
        values = [scalar(one, node) for one in given]
        for one in values:
            self.numeric(one, node)
            if one.type.kind == "vector":
                raise refuse("type", node, f"{op} takes numbers.")
        level = highest(*(one.level for one in values))
        if {"row", "private"} <= {one.level for one in values}:
            raise refuse("nonlinear", node, "This mixes one record's value with a private sum.")
        kind = _plain(*(one.type for one in values))
        if level == "static":
            found = (min if op == "min" else max)(number_of(one) for one in values)
            return Scalar("static", constant(found, node), kind)
        expr = Expr(op, tuple(one.expr for one in values), (), place(node))
        return Scalar(level, expr, kind, any(one.released for one in values))

    def call_onehot(self, node: ast.Call, scope: Scope) -> Value:
        """onehot(i, k): k zeros with a one at i."""
        bound = bind(node, ["value", "k"], needed=1)
        value = scalar(self.value(bound.given["value"], scope), node)
        size = static_of(self.value(bound.given["k"], scope)) if "k" in bound.given else None
        if value.level != "row":
            raise refuse("type", node, "onehot is of a value of one record.")
        labels = len(value.type.labels) if value.type.kind == "category" else None
        if value.type.kind == "bool":
            labels = 2
        if value.type.kind == "int":
            labels = _cells(value.type, size, node)
        if labels is not None and labels > MOST_CELLS:
            raise refuse(
                "size", node, f"This has more than {MOST_CELLS} cells.", "Merge some values."
            )
        if labels is None:
            raise refuse(
                "type",
                node,
                "onehot takes a Category, a Bool or whole numbers from 0 to k - 1.",
                "Merge values by conditions: onehot(0 if x < 18 else 1, 2).",
            )
        if "k" in bound.given and size != Fraction(labels):
            raise refuse("type", node, f"There are {labels} values.", f"Write k={labels}, or no k.")
        items = tuple(Type("int", Fraction(0), Fraction(1)) for _ in range(labels))
        expr = Expr("onehot", (value.expr,), (Fraction(labels),), place(node))
        return Scalar("row", expr, Type("vector", items=items))

    def call_cross(self, node: ast.Call, scope: Scope) -> Value:
        """cross(c1, c2, ...): the pair as one category, the last running fastest."""
        if node.keywords or len(node.args) < 2:
            raise refuse("arguments", node, "cross takes two or more categories: cross(a, b).")
        parts = [scalar(self.value(one, scope), one) for one in node.args]
        for one, at in zip(parts, node.args, strict=True):
            if one.level != "row" or one.type.kind not in ("category", "bool"):
                raise refuse("type", at, "cross takes Category or Bool columns of a row.")
        lists = [one.type.labels or ("False", "True") for one in parts]
        if prod(len(one) for one in lists) > MOST_CELLS:
            raise refuse(
                "size", node, f"This has more than {MOST_CELLS} cells.", "Merge some labels."
            )
        labels = [""]
        for names in lists:
            labels = [f"{a}|{b}" if a else b for a in labels for b in names]
        public = all(one.type.public for one in parts)
        kind = Type(
            "category", Fraction(0), Fraction(len(labels) - 1), tuple(labels), public=public
        )
        return Scalar("row", Expr("cross", tuple(p.expr for p in parts), (), place(node)), kind)


def _cells(kind: Type, size: Literal | None, node: ast.AST) -> int:
    """How many cells whole numbers have. That they lie in them is shown by the checker."""
    known = kind.low == 0 and kind.high is not None
    if size is None and known:
        assert kind.high is not None
        return int(kind.high) + 1
    if not isinstance(size, Fraction) or size.denominator != 1 or size < 1:
        raise refuse(
            "arguments",
            node,
            "How many cells these whole numbers have must be written.",
            "onehot(value, k) for values from 0 to k - 1.",
        )
    return int(size)


def _is_answers(value: Value) -> bool:
    return isinstance(value, Thing) and value.kind == "noisy-data"


def sum_type(kind: Type) -> Type:
    """The type of a sum of values of this type."""
    return INT if kind.kind in ("bool", "int") else REAL


def _plain(*kinds: Type) -> Type:
    return INT if all(one.kind in ("int", "bool") for one in kinds) else REAL


def number_of(value: Scalar) -> Fraction:
    """The number behind a static scalar."""
    found = value.expr.data[0]
    assert isinstance(found, bool | Fraction)
    return Fraction(found)


__all__ = ["TRUE", "Calls", "bind"]


def _unlisted(column: str, kind: Type, node: ast.AST) -> ProgramError:
    """The refusal of pieces by numbers; a short list of whole numbers can be one of labels."""
    if kind.kind != "int" or kind.low is None or kind.high is None:
        return refuse(
            "type",
            node,
            f"'{column}' has no declared list of values.",
            "Partition by a Category or a Bool column: pieces must not depend on the data.",
        )
    low, high = int(kind.low), int(kind.high)
    ends = range(low, high + 1) if high - low < MOST_LISTED else (low, low + 1)
    labels = ", ".join(f'"{one}"' for one in ends)
    labels += "" if high - low < MOST_LISTED else ", ..."
    new = f"Category[{labels}]"
    return refuse(
        "type",
        node,
        f"'{column}' holds whole numbers, and pieces are of a Category or a Bool column.",
        f"Declare {column}: {f'Public[{new}]' if kind.public else new} (a column of whole numbers "
        f"is read as labels), or release one vector: laplace(tuple(count(p for p in people if "
        f"p.{column} == k) for k in range({low}, {high + 1})), epsilon=...).",
    )
