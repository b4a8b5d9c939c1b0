"""Control: static loops are unrolled, static conditions decided, the rest becomes branches."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction

from bayesdp.programs.ir import Branch, Command, Derive, Expr, Parts, names_of
from bayesdp.programs.source.after import After
from bayesdp.programs.source.calls import bind
from bayesdp.programs.source.diagnostics import place, refuse
from bayesdp.programs.source.expressions import pairs
from bayesdp.programs.source.joins import alike_priors, is_private, is_word, unjoined
from bayesdp.programs.source.scope import Scope
from bayesdp.programs.source.sizes import Sizes
from bayesdp.programs.source.values import (
    TEXT,
    Data,
    Items,
    Parted,
    Scalar,
    Thing,
    Value,
    combined,
    described,
    scalar,
    static,
)

MOST_STEPS = 20_000
MOST_NODES = 20_000
ENDED = (
    "belongs to one piece of a partition, and the loop over the pieces has ended: release inside "
    "the loop."
)


class Flow(After):
    """What loops and conditions mean."""

    branches = 0
    """How deep the statement stands in branches."""
    steps = 0

    def __init__(self) -> None:
        super().__init__()
        self.sizes = Sizes()

    def run(self, statements: Iterable[ast.stmt], scope: Scope) -> None:
        """In `lower.py`: the meaning of statements."""
        raise NotImplementedError

    database: str

    def weigh(self, value: Value, node: ast.AST) -> None:
        """Refuse expressions that grow without end when they are written out."""
        if self.sizes.of(value) > MOST_NODES:
            raise refuse(
                "size",
                node,
                f"Written out, this has more than {MOST_NODES} parts.",
                "Release parts of it, and use the released values.",
            )

    def tick(self, node: ast.AST) -> None:
        """Count one step of unrolling."""
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise refuse("size", node, f"The program unrolls to more than {MOST_STEPS} steps.")

    def _loop(self, statement: ast.For, scope: Scope) -> None:
        if statement.orelse:
            raise refuse("construct", statement, "A loop has no else here.", "Write it after it.")
        over = self.sequence(statement.iter, scope)
        if isinstance(over, Data):
            raise refuse(
                "private-control",
                statement.iter,
                "A loop over private rows would let each of them do anything.",
                "Use sum(...), count(...) or fold(...) over a generator.",
            )
        if isinstance(over, Parted):
            self._pieces(
                over, statement.target, statement, scope, lambda: self.run(statement.body, scope)
            )
            return
        for one in over:
            self.tick(statement)
            self.assign(statement.target, one, scope)
            self.run(statement.body, scope)

    def assign(self, target: ast.expr, value: Value, scope: Scope) -> None:
        """Give a name, or several, a value."""
        if isinstance(target, ast.Name):
            if target.id == self.database and isinstance(scope.names.get(target.id), Data):
                raise refuse("name", target, f"'{target.id}' is the database.", "Use another name.")
            self.weigh(value, target)
            scope.bind(target.id, value)
        elif isinstance(target, ast.Tuple | ast.List):
            parts = self.entries(value, target)
            if len(parts) != len(target.elts):
                raise refuse("construct", target, f"There are {len(parts)} values to unpack.")
            for one, part in zip(target.elts, parts, strict=True):
                self.assign(one, part, scope)
        else:
            raise refuse(
                "effect",
                target,
                "Only names are assigned: changing a column or an entry would change the data.",
                "Give the new value a name.",
            )

    def sequence(self, node: ast.expr, scope: Scope) -> Data | Parted | tuple[Value, ...]:
        """What a loop goes over: private data, the pieces of a partition, or static entries."""
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(called, ast.Name) and called.id in ("zip", "enumerate"):
            assert isinstance(node, ast.Call)
            return self._zipped(node, scope)
        found = self.value(node, scope)
        if isinstance(found, Parted | Data):
            return found
        if isinstance(found, Thing) and found.kind == "candidates" and found.expr.op == "range":
            ends = [one.data[0] for one in found.expr.args]
            start, stop, step = (int(one) for one in ends if isinstance(one, Fraction))
            steps = range(start, stop, step)
            if abs(stop - start) > MOST_STEPS * abs(step):
                raise refuse("size", node, f"This loop has more than {MOST_STEPS} steps.")
            return tuple(static(Fraction(one), node) for one in steps)
        if isinstance(found, Items):
            return found.items
        if isinstance(found, Scalar) and found.type.kind == "vector":
            return self.entries(found, node)
        raise refuse(
            "private-control" if isinstance(found, Scalar) and found.level == "private" else "type",
            node,
            f"A loop goes over what is known beforehand, and here stands {described(found)}.",
            "A tuple, range(...) of literals, or partition(people, by=...).",
        )

    def _zipped(self, node: ast.Call, scope: Scope) -> tuple[Value, ...]:
        assert isinstance(node.func, ast.Name)
        lists = []
        for one in node.args:
            found = self.sequence(one, scope)
            if isinstance(found, Data):
                raise pairs(node)
            if isinstance(found, Parted):
                raise refuse("construct", one, "A partition is looped over by itself.")
            lists.append(found)
        if node.keywords or not lists:
            raise refuse("arguments", node, f"{node.func.id} takes tuples.")
        if node.func.id == "enumerate":
            if len(lists) != 1:
                raise refuse("arguments", node, "enumerate takes one tuple.")
            lists.insert(0, tuple(static(Fraction(i), node) for i in range(len(lists[0]))))
        if len({len(one) for one in lists}) > 1:
            raise refuse("type", node, "zip takes tuples of one length.")
        return tuple(Items(tuple(parts)) for parts in zip(*lists, strict=True))

    def call_zip(self, node: ast.Call, scope: Scope) -> Value:
        """zip(a, b) and enumerate(a) of static tuples."""
        return Items(self._zipped(node, scope))

    call_enumerate = call_zip

    def call_range(self, node: ast.Call, scope: Scope) -> Value:
        """range(stop), range(start, stop[, step]) of public whole numbers."""
        if node.keywords or not 1 <= len(node.args) <= 3:
            raise refuse("arguments", node, "range takes one to three whole numbers.")
        parts = []
        for one in node.args:
            found = scalar(self.value(one, scope), one)
            if found.level in ("row", "private"):
                raise refuse(
                    "private-control",
                    one,
                    "How often this loop runs would depend on private data.",
                    "Use a literal or a public argument.",
                )
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
        assert isinstance(node.func, ast.Name)
        changes = node.func.id == "list"
        if not node.args and not node.keywords:
            return Items((), changes)
        found = self.sequence(bind(node, ["items"], needed=1).given["items"], scope)
        if isinstance(found, Data):
            raise refuse("private-output", node, "Private rows are not collected.", "Sum them up.")
        if isinstance(found, Parted):
            raise refuse("type", node, "A partition is looped over.", "for piece in partition(...)")
        return Items(found, changes)

    call_list = call_tuple

    def listed(
        self,
        node: ast.GeneratorExp | ast.ListComp,
        over: Parted | tuple[Value, ...],
        scope: Scope,
    ) -> Value:
        """A generator over a static sequence: a tuple."""
        kept: list[Value] = []
        self._each(node, over, 0, Scope(dict(scope.names), scope.adjacency, scope.gone), kept)
        return Items(tuple(kept), isinstance(node, ast.ListComp))

    def _each(
        self,
        node: ast.GeneratorExp | ast.ListComp,
        over: Parted | tuple[Value, ...],
        depth: int,
        scope: Scope,
        kept: list[Value],
    ) -> None:
        part = node.generators[depth]

        def one_entry() -> None:
            truths = [self.truth(test, scope) for test in part.ifs]
            if any(one.level != "static" for one in truths):
                raise refuse(
                    "static",
                    node,
                    "Which entries are kept must be known beforehand.",
                    "Test literals and public parameters only.",
                )
            if not all(one.expr.data[0] for one in truths):
                return
            if depth + 1 == len(node.generators):
                kept.append(self.value(node.elt, scope))
                self.weigh(Items(tuple(kept[-1:])), node)
                return
            within = self.sequence(node.generators[depth + 1].iter, scope)
            if isinstance(within, Data):
                raise pairs(node)
            self._each(node, within, depth + 1, scope, kept)

        if isinstance(over, Parted):
            self._pieces(over, part.target, node, scope, one_entry)
            return
        for one in over:
            self.tick(node)
            self.assign(part.target, one, scope)
            one_entry()

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
            self.assign(target, Items((shown, piece)) if pair else piece, scope)
            run()
            parts.append((label, tuple(self.commands)))
        self.commands = outer
        for one in ast.walk(target):
            if isinstance(one, ast.Name):
                scope.lose(one.id, ENDED)
        # What was made of a piece inside the loop is private to it and can't be used after it.
        for name, value in list(scope.names.items()):
            if _holds_piece(value, (over.column,), data.pieces):
                scope.lose(name, ENDED)
        self.commands.append(Parts(over.column, over.public, tuple(parts), place(node)))

    def _condition(self, statement: ast.If, scope: Scope) -> None:
        test = self.truth(statement.test, scope)
        if test.level == "static":
            self.run(statement.body if test.expr.data[0] else statement.orelse, scope)
            return
        sides = []
        self.branches += 1
        outer = self.commands
        for body in (statement.body, statement.orelse):
            self.commands = []
            inner = Scope(dict(scope.names), scope.adjacency, scope.gone)
            self.run(body, inner)
            sides.append((self.commands, inner.names))
        self.commands = outer
        self.branches -= 1
        self._join(statement, test, sides, scope)

    def _join(
        self,
        statement: ast.If,
        test: Scalar,
        sides: Sequence[tuple[list[Command], dict[str, Value]]],
        scope: Scope,
    ) -> None:
        """After a branch a name has one value, whichever way was taken; else it is unknown."""
        (then, first), (otherwise, second) = sides
        before = scope.names
        if test.level == "row" and (then or otherwise):
            raise refuse(
                "private-control",
                statement,
                "Whether this releases something depends on one record.",
                "Release outside the row's function.",
            )
        names = dict.fromkeys((*first, *second))
        changed = [one for one in names if not first.get(one) is second.get(one) is before.get(one)]
        for name in changed:
            a, b = first.get(name), second.get(name)
            if a is None or b is None:
                scope.lose(
                    name,
                    f"has a value on one side of the condition in line "
                    f"{statement.lineno} only: give it one on both sides.",
                )
                continue
            joined = self._joined(statement, test, name, (a, b), (then, otherwise))
            if joined is None:
                scope.lose(name, unjoined(a, b, f"the condition in line {statement.lineno}"))
            else:
                scope.bind(name, joined)
        if then or otherwise:
            self.commands.append(Branch(test.expr, tuple(then), tuple(otherwise), place(statement)))

    def either(self, node: ast.IfExp, test: Scalar, scope: Scope) -> Value:
        """A choice between two values; between two commands where a side releases something."""
        outer, sides, values = self.commands, [], []
        self.branches += 1
        for one in (node.body, node.orelse):
            self.commands = []
            values.append(self.value(one, scope))
            sides.append(self.commands)
        self.commands = outer
        self.branches -= 1
        both = (values[0], values[1])
        words = all(is_word(one) for one in both) and test.level == "public"
        things = all(isinstance(one, Thing) for one in both) and test.level != "row"
        if not (sides[0] or sides[1] or words or things):
            return self.chosen(node, test, both)
        if test.level == "row":
            raise refuse(
                "private-control", node, "Whether this releases something depends on one record."
            )
        joined = self._joined(node, test, "chosen", both, (sides[0], sides[1]))
        if joined is None:
            private = is_private(both[0]) or is_private(both[1])
            raise refuse(
                "private-control" if private else "type",
                node,
                f"This {unjoined(*both, 'the condition')}",
            )
        if sides[0] or sides[1]:
            then, otherwise = (tuple(side) for side in sides)
            self.commands.append(Branch(test.expr, then, otherwise, place(node)))
        return joined

    def _joined(
        self,
        node: ast.If | ast.IfExp,
        test: Scalar,
        name: str,
        values: tuple[Value, Value],
        sides: tuple[list[Command], list[Command]],
    ) -> Value | None:
        a, b = values
        if a is b or a == b:
            return a
        if isinstance(a, Items) and isinstance(b, Items) and len(a.items) == len(b.items):
            parts = [
                self._joined(node, test, name, both, sides)
                for both in zip(a.items, b.items, strict=True)
            ]
            kept = tuple(one for one in parts if one is not None)
            return Items(kept) if len(kept) == len(parts) else None
        if isinstance(a, Scalar) and isinstance(b, Scalar):
            if "private" in (a.level, b.level):
                return None
            rows = "row" in (a.level, b.level, test.level)
            words = is_word(a) and is_word(b)
            if rows or not (sides[0] or sides[1] or words):
                return self.chosen(node, test, (a, b))
            if len(a.type.items) != len(b.type.items) or is_word(a) != is_word(b):
                return None
            kind = TEXT if words else a.type
            if kind != b.type and not words:
                kind = combined("add", a.type, b.type)
            return Scalar("public", self._named(name, (a.expr, b.expr), sides), kind, True)
        if (
            isinstance(a, Thing)
            and isinstance(b, Thing)
            and a.kind == b.kind
            and a.family == b.family
            and a.kind in ("released-posterior", "samples")
            and test.level != "row"
        ):
            named = self._named(name, (a.expr, b.expr), sides)
            return Thing(a.kind, named, a.family, (), True)
        if isinstance(a, Thing) and isinstance(b, Thing) and alike_priors(a, b, test):
            numbers = self._joined(node, test, name, (Items(a.about), Items(b.about)), sides)
            if isinstance(numbers, Items):
                where, given = place(node), [scalar(one, node) for one in numbers.items]
                given = [replace(one, expr=replace(one.expr, where=where)) for one in given]
                return self._prior(a.family, node, tuple(given))
        return None

    def _named(
        self, name: str, values: tuple[Expr, Expr], sides: tuple[list[Command], list[Command]]
    ) -> Expr:
        """One name for a value that each side of a branch derives."""
        one = self.fresh(name)
        if all(names_of(value) & {*self.models, *self.joined} for value in values):
            self.joined.add(one)
        for value, side in zip(values, sides, strict=True):
            side.append(Derive(one, value))
        return Expr("public", (), (one,))


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
