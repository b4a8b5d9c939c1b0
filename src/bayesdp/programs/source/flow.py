"""Control: static loops are unrolled, static conditions decided, the rest becomes branches."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

from bayesdp.programs.ir import Branch, Command, Derive, Expr, Parts, Type
from bayesdp.programs.source.after import After
from bayesdp.programs.source.calls import bind
from bayesdp.programs.source.diagnostics import place, refuse
from bayesdp.programs.source.expressions import Scope
from bayesdp.programs.source.values import (
    Data,
    Items,
    Parted,
    Scalar,
    Thing,
    Value,
    described,
    static,
)

MOST_STEPS = 20_000


class Flow(After):
    """What loops and conditions mean."""

    branches = 0
    """How deep the statement stands in branches."""
    steps = 0

    def run(self, statements: Iterable[ast.stmt], scope: Scope) -> None:
        """In `lower.py`: the meaning of statements."""
        raise NotImplementedError

    def entries(self, found: Value, node: ast.AST) -> tuple[Value, ...]:
        """In `lower.py`: the entries of a tuple or vector."""
        raise NotImplementedError

    def tick(self, node: ast.AST) -> None:
        """Count one step of unrolling."""
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise refuse("size", node, f"The program unrolls to more than {MOST_STEPS} steps.")

    def _loop(self, statement: ast.For, scope: Scope) -> None:
        if statement.orelse:
            raise refuse("construct", statement, "A loop has no else here.")
        over = self._sequence(statement.iter, scope)
        if isinstance(over, Parted):
            self._parts(statement, over, scope)
            return
        for one in over:
            self.tick(statement)
            self._bind_target(statement.target, one, scope)
            self.run(statement.body, scope)

    def _bind_target(self, target: ast.expr, value: Value, scope: Scope) -> None:
        if isinstance(target, ast.Name):
            scope.names[target.id] = value
        elif isinstance(target, ast.Tuple):
            parts = self.entries(value, target)
            if len(parts) != len(target.elts):
                raise refuse("construct", target, f"There are {len(parts)} values to unpack.")
            for one, part in zip(target.elts, parts, strict=True):
                self._bind_target(one, part, scope)
        else:
            raise refuse("construct", target, "A loop names its value.")

    def _sequence(self, node: ast.expr, scope: Scope) -> Parted | tuple[Value, ...]:
        """What a static loop goes over."""
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(called, ast.Name) and called.id in ("zip", "enumerate"):
            assert isinstance(node, ast.Call)
            return self._zipped(node, scope)
        found = self.value(node, scope)
        if isinstance(found, Parted):
            return found
        if isinstance(found, Data):
            raise refuse(
                "private-control",
                node,
                "A loop over private rows would let each of them do anything.",
                "Use sum(...), count(...) or fold(...) over a generator.",
            )
        if isinstance(found, Thing) and found.kind == "candidates" and found.expr.op == "range":
            ends = [one.data[0] for one in found.expr.args]
            if not all(isinstance(one, Fraction) for one in ends):
                raise refuse("static", node, "A loop's range is known before the data is read.")
            start, stop, step = (int(one) for one in ends if isinstance(one, Fraction))
            if len(range(start, stop, step)) > MOST_STEPS:
                raise refuse("size", node, f"This loop has more than {MOST_STEPS} steps.")
            return tuple(static(Fraction(one), node) for one in range(start, stop, step))
        if isinstance(found, Items):
            return found.items
        if isinstance(found, Scalar) and found.type.kind == "vector" and found.level == "public":
            return self.entries(found, node)
        raise refuse(
            "private-control" if isinstance(found, Scalar) and found.level == "private" else "type",
            node,
            "A loop goes over a tuple, a range of literals or partition(...), and here stands "
            f"{described(found)}.",
            "",
        )

    def _zipped(self, node: ast.Call, scope: Scope) -> tuple[Value, ...]:
        assert isinstance(node.func, ast.Name)
        lists = []
        for one in node.args:
            found = self._sequence(one, scope)
            if isinstance(found, Parted):
                raise refuse("construct", one, "A partition is looped over by itself.")
            lists.append(found)
        if node.func.id == "enumerate":
            if len(lists) != 1 or node.keywords:
                raise refuse("arguments", node, "enumerate takes one tuple.")
            lists.insert(0, tuple(static(Fraction(i), node) for i in range(len(lists[0]))))
        if len({len(one) for one in lists}) > 1:
            raise refuse("type", node, "zip takes tuples of one length.")
        return tuple(Items(tuple(parts)) for parts in zip(*lists, strict=True))

    def call_range(self, node: ast.Call, scope: Scope) -> Value:
        """range(stop), range(start, stop[, step]) of public whole numbers."""
        if node.keywords or not 1 <= len(node.args) <= 3:
            raise refuse("arguments", node, "range takes one to three whole numbers.")
        parts = []
        for one in node.args:
            found = self.public(one, scope, "A range")
            value = found.expr.data[0] if found.level == "static" else None
            if found.released or found.level != "static":
                raise refuse(
                    "static", one, "A range is known before the data is read.", "Use literals."
                )
            if not isinstance(value, Fraction) or value.denominator != 1:
                raise refuse("type", one, "A range is of whole numbers.")
            parts.append(value)
        start, stop = (Fraction(0), parts[0]) if len(parts) == 1 else (parts[0], parts[1])
        step = parts[2] if len(parts) == 3 else Fraction(1)
        if step == 0:
            raise refuse("arguments", node, "A range's step is not 0.")
        args = tuple(Expr("const", (), (one,)) for one in (start, stop, step))
        return Thing("candidates", Expr("range", args, (), place(node)), "int")

    def call_tuple(self, node: ast.Call, scope: Scope) -> Value:
        """tuple(...) and list(...) of a static sequence."""
        bound = bind(node, ["items"], needed=1)
        found = self.value(bound.given["items"], scope)
        if isinstance(found, Data):
            raise refuse("private-output", node, "Private rows are not collected.", "Sum them up.")
        if isinstance(found, Items):
            return found
        sequence = self._sequence(bound.given["items"], scope)
        if isinstance(sequence, Parted):
            raise refuse("type", node, "A partition is looped over.", "for piece in partition(...)")
        return Items(sequence)

    call_list = call_tuple

    def _static_generator(self, node: ast.GeneratorExp | ast.ListComp, scope: Scope) -> Value:
        part = node.generators[0]
        if len(node.generators) != 1:
            raise refuse("construct", node, "One `for` at a time.", "Write a loop.")
        over = self._sequence(part.iter, scope)
        inner = Scope(dict(scope.names), scope.adjacency)
        kept: list[Value] = []
        if isinstance(over, Parted):
            if part.ifs:
                raise refuse("construct", node, "Pieces of a partition are all taken.")
            self._pieces(
                over, part.target, node, inner, lambda: kept.append(self.value(node.elt, inner))
            )
            return Items(tuple(kept))
        for one in over:
            self.tick(node)
            self._bind_target(part.target, one, inner)
            truths = [self.truth(test, inner) for test in part.ifs]
            if any(one.level != "static" for one in truths):
                raise refuse("static", node, "Which entries are kept must be known beforehand.")
            if all(one.expr.data[0] for one in truths):
                kept.append(self.value(node.elt, inner))
        return Items(tuple(kept))

    def _parts(self, statement: ast.For, over: Parted, scope: Scope) -> None:
        self._pieces(
            over, statement.target, statement, scope, lambda: self.run(statement.body, scope)
        )

    def _pieces(
        self, over: Parted, target: ast.expr, node: ast.AST, scope: Scope, run: Callable[[], None]
    ) -> None:
        """One list of commands for each label; names that stand for a piece end with the loop."""
        outer, parts = self.commands, []
        pair = isinstance(target, ast.Tuple)
        data = over.data
        for label in over.labels:
            self.tick(node)
            self.commands = []
            piece = Data((*data.pieces, (over.column, label)), data.filter, data.row)
            shown = static(label, node)
            self._bind_target(target, Items((shown, piece)) if pair else piece, scope)
            run()
            parts.append((label, tuple(self.commands)))
        self.commands = outer
        for one in ast.walk(target):
            if isinstance(one, ast.Name):
                scope.names.pop(one.id, None)
        # What was made of a piece inside the loop is private to it and can't be used after it.
        for name, value in list(scope.names.items()):
            if _holds_piece(value, (over.column,), data.pieces):
                del scope.names[name]
        self.commands.append(Parts(over.column, over.public, tuple(parts), place(node)))

    def _condition(self, statement: ast.If, scope: Scope) -> None:
        test = self.truth(statement.test, scope)
        if test.level == "static":
            self.run(statement.body if test.expr.data[0] else statement.orelse, scope)
            return
        if test.level == "row":
            raise refuse("private-control", statement, "A condition on one record's value.")
        before = dict(scope.names)
        sides = []
        self.branches += 1
        outer = self.commands
        for body in (statement.body, statement.orelse):
            self.commands = []
            names = dict(before)
            self.run(body, Scope(names, scope.adjacency))
            sides.append((self.commands, names))
        self.commands = outer
        self.branches -= 1
        self._join(statement, test, sides, before, scope)

    def _join(
        self,
        statement: ast.If,
        test: Scalar,
        sides: Sequence[tuple[list[Command], dict[str, Value]]],
        before: dict[str, Value],
        scope: Scope,
    ) -> None:
        """After a branch a name has one value, whichever way was taken; else it is unknown."""
        (then, first), (otherwise, second) = sides
        changed = [one for one in {**first, **second} if first.get(one) != before.get(one)]
        changed += [one for one in second if second[one] != before.get(one) and one not in changed]
        for name in changed:
            a, b = first.get(name), second.get(name)
            joined = None if a is None or b is None else self._joined(name, a, b, then, otherwise)
            if joined is None:
                scope.names.pop(name, None)
            else:
                scope.names[name] = joined
        self.commands.append(Branch(test.expr, tuple(then), tuple(otherwise), place(statement)))

    def _joined(
        self, name: str, a: Value, b: Value, then: list[Command], otherwise: list[Command]
    ) -> Value | None:
        if a == b:
            return a
        if isinstance(a, Items) and isinstance(b, Items) and len(a.items) == len(b.items):
            parts = [
                self._joined(name, x, y, then, otherwise)
                for x, y in zip(a.items, b.items, strict=True)
            ]
            kept = tuple(one for one in parts if one is not None)
            return Items(kept) if len(kept) == len(parts) else None
        one = self.fresh(name)
        where = Expr("public", (), (one,))
        if isinstance(a, Scalar) and isinstance(b, Scalar):
            if "private" in (a.level, b.level) or "row" in (a.level, b.level):
                return None
            if len(a.type.items) != len(b.type.items):
                return None
            then.append(Derive(one, a.expr))
            otherwise.append(Derive(one, b.expr))
            kind = a.type if a.type == b.type else Type("real")
            return Scalar("public", where, kind, True)
        if (
            isinstance(a, Thing)
            and isinstance(b, Thing)
            and a.kind == b.kind
            and a.family == b.family
        ) and a.kind in ("released-posterior", "samples"):
            then.append(Derive(one, a.expr))
            otherwise.append(Derive(one, b.expr))
            return Thing(a.kind, where, a.family, (), True)
        return None


def _holds_piece(value: Value, columns: tuple[str, ...], outside: object) -> bool:
    if isinstance(value, Items):
        return any(_holds_piece(one, columns, outside) for one in value.items)
    if isinstance(value, Data):
        return value.pieces != outside and any(c in columns for c, _ in value.pieces)
    if isinstance(value, Scalar):
        return value.level == "private" and _reads_piece(value.expr, columns)
    if isinstance(value, Thing):
        return not value.kind.startswith("released") and _reads_piece(value.expr, columns)
    return False


def _reads_piece(expr: Expr, columns: tuple[str, ...]) -> bool:
    if expr.op == "data":
        pieces = expr.data[0]
        assert isinstance(pieces, tuple)
        return any(isinstance(one, tuple) and one[0] in columns for one in pieces)
    return any(_reads_piece(one, columns) for one in expr.args)
