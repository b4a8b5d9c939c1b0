"""Random programs, and what they truly do: a third reading of them, by brute force."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import lgamma
from typing import Any

import numpy as np

from bayesdp.programs.ir import (
    Adjacency,
    Branch,
    Command,
    Derive,
    Expr,
    Parts,
    Program,
    Release,
    Type,
)

Rng = np.random.Generator
Row = dict[str, Any]
TRUE = Expr("const", (), (True,))
SIZE = Expr("public", (), ("db.size",))


def number(value: Fraction | int) -> Expr:
    return Expr("const", (), (Fraction(value),))


def pick(rng: Rng, options: Any) -> Any:
    return options[int(rng.integers(len(options)))]


# -- random programs -----------------------------------------------------------------------------


class Maker:
    """One random program: a record, then commands over it."""

    ops: tuple[str, ...] = ("laplace", "laplace", "laplace", "gaussian", "exponential", "hellinger")

    def __init__(self, rng: Rng) -> None:
        self.rng, self.count = rng, 0
        self.adjacency: Adjacency = pick(rng, ("replace-one", "replace-one", "add-remove"))
        self.record = tuple((name, self.column()) for name in "abcd"[: int(rng.integers(1, 4))])
        self.released: list[str] = []

    def fraction(self) -> Fraction:
        return Fraction(int(self.rng.integers(-6, 7)), int(self.rng.integers(1, 4)))

    def column(self) -> Type:
        public = bool(self.rng.random() < 0.3)
        kind = pick(self.rng, ("bool", "int", "real", "category"))
        if kind == "bool":
            return Type("bool", Fraction(0), Fraction(1), public=public)
        if kind == "category":
            labels = ("u", "v", "w")[: int(self.rng.integers(2, 4))]
            return Type("category", Fraction(0), Fraction(len(labels) - 1), labels, public=public)
        low = Fraction(int(self.rng.integers(-3, 2)))
        width = Fraction(int(self.rng.integers(1, 4)), 1 if kind == "int" else 2)
        return Type(str(kind), low, low + width, public=public)

    def columns(self, *kinds: str) -> list[str]:
        return [name for name, kind in self.record if kind.kind in kinds]

    def numeric(self, depth: int = 2) -> Expr:
        """A number of one row."""
        named = self.columns("bool", "int", "real")
        if depth == 0 or self.rng.random() < 0.3:
            if named and self.rng.random() < 0.8:
                return Expr("field", (), (pick(self.rng, named),))
            return number(self.fraction())
        op = pick(self.rng, ("add", "sub", "mul", "neg", "abs", "min", "max", "clip", "if", "div"))
        item = self.numeric(depth - 1)
        if op in ("neg", "abs"):
            return Expr(op, (item,))
        if op == "clip":
            low = self.fraction()
            return Expr(op, (item, number(low), number(low + abs(self.fraction()))))
        if op == "if":
            return Expr(op, (self.truth(1), item, self.numeric(depth - 1)))
        if op == "div":
            return Expr(op, (item, number(self.fraction() or 2)))
        return Expr(op, (item, item if self.rng.random() < 0.1 else self.numeric(depth - 1)))

    def truth(self, depth: int = 1) -> Expr:
        """A condition on one row."""
        if self.columns("category") and self.rng.random() < 0.4:
            name = pick(self.rng, self.columns("category"))
            label = pick(self.rng, dict(self.record)[name].labels)
            return Expr(pick(self.rng, ("eq", "ne")), (Expr("field", (), (name,)), _text(label)))
        if depth and self.rng.random() < 0.3:
            op = pick(self.rng, ("and", "or", "not"))
            parts = (self.truth(0),) if op == "not" else (self.truth(0), self.truth(0))
            return Expr(op, parts)
        op = pick(self.rng, ("lt", "le", "gt", "ge"))
        return Expr(op, (self.numeric(1), number(self.fraction())))

    def data(self, value: Expr, pieces: tuple[tuple[str, str], ...]) -> Expr:
        kept = self.truth() if self.rng.random() < 0.4 else TRUE
        return Expr("data", (kept, value), (pieces,))

    def vector(self) -> Expr:
        """A vector of one row."""
        named = self.columns("category", "bool")
        way = pick(self.rng, ("onehot", "moments", "tuple"))
        if way == "onehot" and named:
            several = len(named) > 1 and self.rng.random() < 0.5
            fields = tuple(
                Expr("field", (), (item,)) for item in (named[:2] if several else named[:1])
            )
            places = 1
            for field in fields:
                places *= len(dict(self.record)[str(field.data[0])].labels) or 2
            inner = Expr("cross", fields) if several else fields[0]
            return Expr("onehot", (inner,), (Fraction(places),))
        if way == "moments":
            entries = [
                Expr("clip", (self.numeric(1), number(-1), number(1)))
                for _ in range(int(self.rng.integers(1, 4)))
            ]
            first = [number(1)] if self.rng.random() < 0.5 else []
            return Expr("moments", (Expr("tuple", (*first, *entries)),))
        return Expr("tuple", tuple(self.numeric() for _ in range(int(self.rng.integers(2, 4)))))

    def summed(self, pieces: tuple[tuple[str, str], ...]) -> Expr:
        if self.rng.random() < 0.25:
            return Expr("count", (self.data(number(1), pieces),))
        return Expr("sum", (self.data(self.numeric(), pieces),))

    def private(self, pieces: tuple[tuple[str, str], ...], depth: int = 2) -> Expr:
        """One private number."""
        if depth == 0 or self.rng.random() < 0.4:
            return self.summed(pieces)
        op = pick(self.rng, ("add", "sub", "neg", "mul", "div", "clip", "min", "max", "abs", "n"))
        item = self.private(pieces, depth - 1)
        if op in ("neg", "abs"):
            return Expr(op, (item,))
        if op == "clip":
            low = self.fraction()
            return Expr(op, (item, number(low), number(low + 3)))
        if op in ("mul", "div"):
            return Expr(op, (item, number(self.fraction() or 2)))
        if op == "n":
            same = self.adjacency == "replace-one"
            return Expr("div", (item, SIZE)) if same else Expr("mul", (number(2), item))
        return Expr(op, (item, self.private(pieces, depth - 1)))

    def value(self, pieces: tuple[tuple[str, str], ...]) -> Expr:
        """What is released: a number or a vector."""
        chance = self.rng.random()
        if chance < 0.45:
            return self.private(pieces)
        if chance < 0.7:
            whole = Expr("sum", (self.data(self.vector(), pieces),))
            if self.rng.random() < 0.3:
                return Expr("mul", (number(self.fraction() or 1), whole))
            return whole
        if chance < 0.8:  # one number, added to every entry of a public vector
            entries = Expr("tuple", tuple(number(self.fraction()) for _ in range(3)))
            return Expr("add", (self.private(pieces), entries))
        parts = tuple(self.private(pieces, 1) for _ in range(int(self.rng.integers(2, 4))))
        return Expr("tuple", parts)

    def name(self, hint: str) -> str:
        self.count += 1
        return f"{hint}_{self.count}"

    def epsilon(self) -> Expr:
        return number(Fraction(int(self.rng.integers(1, 8)), 4))

    def release(self, pieces: tuple[tuple[str, str], ...] = ()) -> Command:
        op = pick(self.rng, self.ops)
        options: dict[str, Expr] = {"epsilon": self.epsilon()}
        if op == "gaussian":
            options["delta"] = number(Fraction(1, 10**6))
        args: tuple[Expr, ...]
        if op == "exponential":
            name = self.name("candidate")
            shown = Expr("public", (), (name,))
            body = Expr("neg", (Expr("abs", (Expr("sub", (self.private(pieces, 1), shown)),)),))
            args = (
                Expr("score", (body,), (name,)),
                Expr("linspace", tuple(map(number, (0, 5, 6)))),
            )
        elif op == "hellinger":
            score = self.hellinger(pieces)
            args = (score, _grid(str(score.args[0].args[0].args[2].data[0])))
        elif op == "above-threshold":
            queries = tuple(self.private(pieces, 1) for _ in range(int(self.rng.integers(1, 4))))
            args = (Expr("tuple", queries), number(self.fraction()))
        else:
            args = (self.value(pieces),)
        name = self.name("r")
        if op in ("laplace", "gaussian") and args[0].op != "tuple" and _single(args[0]):
            self.released.append(name)
        op = "exponential" if op == "hellinger" else str(op)
        return Release(name, op, args, tuple(sorted(options.items())))

    def hellinger(self, pieces: tuple[tuple[str, str], ...]) -> Expr:
        family = pick(self.rng, ("bernoulli", "poisson", "normal"))
        positive = [number(Fraction(int(self.rng.integers(1, 12)), 4)) for _ in range(2)]
        if family == "bernoulli":
            rows, likelihood, prior = self.truth(), (), ("beta", positive)
        elif family == "poisson":
            rows = Expr("clip", (self.numeric(1), number(0), number(3)))
            likelihood, prior = (number(5),), ("gamma", positive)
        else:
            rows = Expr("clip", (self.numeric(1), number(-1), number(1)))
            likelihood, prior = (positive[0],), ("normal", [number(0), positive[1]])
        model = Expr(
            "observe",
            (
                self.data(rows, pieces),
                Expr("likelihood", likelihood, (family,)),
                Expr("prior", tuple(prior[1]), (prior[0],)),
            ),
        )
        return Expr("hellinger", (Expr("posterior", (model,)),))

    def commands(self, depth: int, pieces: tuple[tuple[str, str], ...] = ()) -> tuple[Command, ...]:
        actual: list[Command] = []
        for _ in range(int(self.rng.integers(1, 3))):
            chance = self.rng.random()
            split = [
                column for column in self.columns("category", "bool") if column not in dict(pieces)
            ]
            if depth and chance < 0.25 and split:
                actual.append(self.parts(pick(self.rng, split), depth - 1, pieces))
            elif depth and chance < 0.4 and self.released:
                shown = Expr("public", (), (pick(self.rng, self.released),))
                before = list(self.released)
                sides = []
                for _ in range(2):
                    sides.append(self.commands(depth - 1, pieces))
                    self.released = list(before)
                actual.append(Branch(Expr("gt", (shown, number(1))), sides[0], sides[1]))
            else:
                actual.append(self.release(pieces))
        if self.released and self.rng.random() < 0.3:
            shown = Expr("public", (), (pick(self.rng, self.released),))
            actual.append(Derive(self.name("d"), Expr("mul", (shown, number(2)))))
        return tuple(actual)

    def parts(self, column: str, depth: int, pieces: tuple[tuple[str, str], ...]) -> Parts:
        kind = dict(self.record)[column]
        parts, before = [], list(self.released)
        for label in kind.labels or ("False", "True"):
            inside = (*pieces, (column, label))
            if self.rng.random() < 0.1:
                inside = pieces  # reads all rows: not in parallel
            parts.append((label, self.commands(depth, inside)))
            self.released = list(before)
        return Parts(column, kind.public, tuple(parts))

    def program(self) -> Program:
        body = self.commands(2)
        requires: tuple[Expr, ...] = ()
        if self.adjacency == "replace-one" and self.rng.random() < 0.3:
            requires = (Expr("ge", (SIZE, number(int(self.rng.integers(1, 4))))),)
        return Program(
            "random", self.adjacency, "rows", self.record, False, (), requires, body, (), (),
            None, None, "sha256:0",
        )  # fmt: skip


def _text(label: str) -> Expr:
    return Expr("const", (), (label,))


def _grid(family: str) -> Expr:
    axis = Expr("linspace", tuple(map(number, (1, 5, 5))))
    return Expr("grid-of", (axis, axis), (family,))


def _single(expr: Expr) -> bool:
    """Whether a value is one number for certain."""
    return expr.op not in ("sum", "mul", "tuple", "add")


def random_program(rng: Rng) -> Program:
    return Maker(rng).program()


class Searching(Maker):
    """Programs that look for the first query above a threshold."""

    ops = ("above-threshold", "above-threshold", "laplace")


def searching_program(rng: Rng) -> Program:
    return Searching(rng).program()


# -- what it truly does ----------------------------------------------------------------------------


class True_:
    """Exact values of a program's private expressions on a database."""

    def __init__(self, program: Program, rows: list[Row]) -> None:
        self.kinds, self.rows = dict(program.record), rows

    def of_row(self, expr: Expr, row: Row) -> Any:
        op = expr.op
        if op == "const":
            return expr.data[0]
        if op in ("field", "acc"):
            return row[str(expr.data[0]) if op == "field" else "so far"]
        if op == "if":
            return self.of_row(expr.args[1 if self.of_row(expr.args[0], row) else 2], row)
        args = [self.of_row(argument, row) for argument in expr.args]
        if op == "onehot":
            place = _place(expr.args[0], args[0], self.kinds)
            return [Fraction(i == place) for i in range(int(expr.data[0]))]  # type: ignore[arg-type]
        if op == "cross":
            return args
        if op == "moments":
            v = [Fraction(argument) for argument in args[0]]
            return [v[i] * v[j] for i in range(len(v)) for j in range(i, len(v))]
        return _computed(op, args)

    def data(self, expr: Expr) -> Iterator[Any]:
        for row in self.rows:
            inside = all(str(row[c]) == label for c, label in expr.data[0])  # type: ignore[union-attr, misc]
            if inside and self.of_row(expr.args[0], row):
                yield self.of_row(expr.args[1], row)

    def value(self, expr: Expr, candidate: Fraction | None = None) -> Any:
        """Of a private expression: a number or a list."""
        op = expr.op
        if op == "count":
            return Fraction(sum(1 for _ in self.data(expr.args[0])))
        if op == "sum":
            actual = list(self.data(expr.args[0]))
            width = _width(expr.args[0].args[1])
            if width is None:
                return sum((Fraction(item) for item in actual), Fraction(0))
            return [sum((Fraction(item[i]) for item in actual), Fraction(0)) for i in range(width)]
        if op == "const":
            return expr.data[0]
        if op == "public":
            return Fraction(len(self.rows)) if expr == SIZE else candidate
        args = [self.value(argument, candidate) for argument in expr.args]
        lists = [argument for argument in args if isinstance(argument, list)]
        if lists and op in ("mul", "neg", "add"):
            spread = [
                argument if isinstance(argument, list) else [argument] * len(lists[0])
                for argument in args
            ]
            return [_computed(op, list(item)) for item in zip(*spread, strict=True)]
        return _computed(op, args)


def _width(expr: Expr) -> int | None:
    if expr.op == "onehot":
        return int(expr.data[0])  # type: ignore[arg-type]
    if expr.op == "moments":
        d = len(expr.args[0].args)
        return d * (d + 1) // 2
    return len(expr.args) if expr.op == "tuple" else None


def _computed(op: str, args: list[Any]) -> Any:
    if op == "tuple":
        return [Fraction(argument) for argument in args]
    if op in ("eq", "ne"):
        return (args[0] == args[1]) == (op == "eq")
    if op == "not":
        return not args[0]
    if op in ("and", "or"):
        return all(args) if op == "and" else any(args)
    v = [Fraction(argument) for argument in args]
    plain: dict[str, Callable[[], Any]] = {
        "add": lambda: v[0] + v[1], "sub": lambda: v[0] - v[1], "mul": lambda: v[0] * v[1],
        "div": lambda: v[0] / v[1], "neg": lambda: -v[0], "abs": lambda: abs(v[0]),
        "min": lambda: min(v), "max": lambda: max(v), "clip": lambda: min(max(v[0], v[1]), v[2]),
        "lt": lambda: v[0] < v[1], "le": lambda: v[0] <= v[1], "gt": lambda: v[0] > v[1],
        "ge": lambda: v[0] >= v[1],
    }  # fmt: skip
    return plain[op]()


def _place(expr: Expr, value: Any, kinds: dict[str, Type]) -> int:
    if expr.op == "cross":
        actual = 0
        for item, part in zip(expr.args, value, strict=True):
            labels = kinds[str(item.data[0])].labels or (False, True)
            actual = actual * len(labels) + labels.index(part)
        return actual
    labels = kinds[str(expr.data[0])].labels or (False, True)
    return labels.index(value)


def witnesses(kind: Type, rng: Rng) -> list[Any]:
    """All values of a finite column; of a real one its ends and points between."""
    if kind.kind == "bool":
        return [False, True]
    if kind.kind == "category":
        return list(kind.labels)
    assert kind.low is not None
    assert kind.high is not None
    if kind.kind == "int":
        return [Fraction(item) for item in range(int(kind.low), int(kind.high) + 1)]
    inside = kind.low + (kind.high - kind.low) * Fraction(int(rng.integers(1, 8)), 8)
    return sorted({kind.low, kind.high, inside, max(kind.low, min(kind.high, Fraction(0)))})


def neighbours(program: Program, rng: Rng, most: int = 9) -> Iterator[tuple[list[Row], list[Row]]]:
    """Pairs of small databases that are neighbours, up to the order of rows."""
    names = [name for name, _ in program.record]
    every = [
        dict(zip(names, cell, strict=True))
        for cell in product(*(witnesses(kind, rng) for _, kind in program.record))
    ]
    chosen = [every[i] for i in rng.permutation(len(every))[:most]]
    public = [name for name, kind in program.record if kind.public]
    for others in [0, 1]:
        for rest in combinations_with_replacement(chosen, others):
            for item in chosen:
                if program.adjacency == "add-remove":
                    yield [*rest, item], list(rest)
                    continue
                for other in chosen:
                    if all(item[name] == other[name] for name in public):
                        yield [*rest, item], [*rest, other]


def distance(x: Any, y: Any, norm: str) -> Fraction:
    """l1, or the square of l2."""
    xs, ys = ([Fraction(p) for p in (v if isinstance(v, list) else [v])] for v in (x, y))
    moves = [abs(a - b) for a, b in zip(xs, ys, strict=True)]
    return sum((m if norm == "l1" else m * m for m in moves), Fraction(0))


def losses(
    commands: tuple[Command, ...],
    node: dict[str, Any],
    pair: tuple[True_, True_],
    allowed: Callable[[dict[str, Any], int], Fraction],
) -> Fraction:
    """What a pair of databases can be told apart by: sup of the log-ratio of all transcripts.

    Laplace noise of scale sensitivity / epsilon adds `epsilon * l1 move / sensitivity`; a score is
    bounded by its largest move; other releases count with their epsilon where their value moves.
    """
    total = Fraction(0)
    for command, step in zip(commands, node["sequence"], strict=True):
        if isinstance(command, Release):
            total += _loss(command, step, pair, allowed)
        elif isinstance(command, Branch):
            sides = zip((command.then, command.otherwise), step["branch"], strict=True)
            total += max(losses(side, item, pair, allowed) for side, item in sides)
        elif isinstance(command, Parts):
            parts = zip(command.parts, step["parts"]["of"], strict=True)
            total += sum((losses(p, item, pair, allowed) for (_, p), item in parts), Fraction(0))
    return total


def hellinger(model: Expr, true_: True_, other: True_) -> float:
    """The distance of the two posteriors, in closed form."""
    data, likelihood, prior = model.args
    a, b = (float(p.data[0]) for p in prior.args)  # type: ignore[arg-type]
    actual = [[float(Fraction(v)) for v in side.data(data)] for side in (true_, other)]
    if likelihood.data[0] == "bernoulli":
        (x, y), (u, v) = ((a + sum(rows), b + len(rows) - sum(rows)) for rows in actual)
        log = _beta((x + u) / 2, (y + v) / 2) - (_beta(x, y) + _beta(u, v)) / 2
    elif likelihood.data[0] == "poisson":
        x, u = (a + sum(rows) for rows in actual)
        log = lgamma((x + u) / 2) - (lgamma(x) + lgamma(u)) / 2
    else:
        spread = float(likelihood.args[0].data[0]) ** 2  # type: ignore[arg-type]
        posteriors = []
        for rows in actual:
            precision = 1 / b**2 + len(rows) / spread
            posteriors.append(((a / b**2 + sum(rows) / spread) / precision, 1 / precision))
        (m, s), (k, t) = posteriors
        log = 0.5 * math.log(2 * math.sqrt(s * t) / (s + t)) - (m - k) ** 2 / (4 * (s + t))
    return math.sqrt(max(-math.expm1(log), 0.0))


def _beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)


def _loss(
    release: Release,
    step: dict[str, Any],
    pair: tuple[True_, True_],
    allowed: Callable[[dict[str, Any], int], Fraction],
) -> Fraction:
    item, other = pair
    epsilon = Fraction(step["epsilon"])
    bound = allowed(step, len(item.rows))
    score = release.args[0]
    if score.op == "hellinger":
        moved = Fraction(max(hellinger(score.args[0].args[0], item, other) - 1e-9, 0.0))
    elif score.op == "score":
        places = [Fraction(c) for c in range(6)]
        moved = max(
            distance(item.value(score.args[0], c), other.value(score.args[0], c), "l1")
            for c in places
        )
    elif release.op == "above-threshold":
        values = (side.value(score) for side in (item, other))
        moved = max(abs(Fraction(a) - Fraction(b)) for a, b in zip(*values, strict=True))
    else:
        norm = step["sensitivity"]["norm"]
        moved = distance(item.value(score), other.value(score), norm)
        if norm == "l2":
            assert moved <= bound, (release, step, item.rows, other.rows)
            return epsilon if moved else Fraction(0)
    assert moved <= bound, (release, step, item.rows, other.rows)
    return epsilon * moved / bound if moved else Fraction(0)
