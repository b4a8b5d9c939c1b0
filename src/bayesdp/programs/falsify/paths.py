"""Outcome classes: which releases a program makes, given what the earlier ones showed.

Where a later command reads a released value, a few values stand for all: far out, 0, and around
the numbers that the program compares with. Every combination is one path.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bayesdp.programs.falsify.values import Evaluator, ExpressionValue, Opaque
from bayesdp.programs.falsify.witnesses import evenly, expressions
from bayesdp.programs.ir import (
    Branch,
    Command,
    Derive,
    Expr,
    Program,
    Release,
    flat,
    names_of,
    nodes,
)

MOST_PATHS = 40
FAR = Fraction(10**6)


@dataclass(frozen=True)
class Path:
    """A path: the commands that run, each with its step of the derivation, and values of names."""

    names: Mapping[str, ExpressionValue]
    steps: tuple[tuple[Command, Mapping[str, Any]], ...]

    @property
    def releases(self) -> list[tuple[Release, Mapping[str, Any]]]:
        """The releases on the path, each with its step of the derivation."""
        return [(command, node) for command, node in self.steps if isinstance(command, Release)]


def paths(program: Program, derivation: Mapping[str, Any], size: int | None) -> list[Path]:
    """All paths, or a selection where there are many.

    `size` is the public number of records, None where it is private.
    """
    names: dict[str, ExpressionValue] = {} if size is None else {"db.size": Fraction(size)}
    read = _read(program.body)
    values = _representatives(program.body)
    todo = [(Path(names, ()), tuple(_paired(program.body, derivation)))]
    done: list[Path] = []
    while todo:
        done += [path for path, items in todo if not items]
        after = [
            state for path, items in todo if items for state in _step(path, items, read, values)
        ]
        todo = evenly(after, MOST_PATHS)
    return evenly(done, MOST_PATHS)


CommandAndNode = tuple[Command, Mapping[str, Any]]


def _paired(commands: Sequence[Command], node: Mapping[str, Any]) -> list[CommandAndNode]:
    return list(zip(commands, node["sequence"], strict=True))


State = tuple[Path, tuple[CommandAndNode, ...]]


def _step(
    path: Path,
    items: tuple[CommandAndNode, ...],
    read: frozenset[str],
    values: tuple[Fraction, ...],
) -> Iterator[State]:
    """What may have happened after the first of the commands that are left."""
    plain = next((i for i, (command, _) in enumerate(items) if _decides(command, read)), len(items))
    if plain:
        yield Path(path.names, (*path.steps, *items[:plain])), items[plain:]
        return
    (command, node), rest = items[0], items[1:]
    steps = (*path.steps, (command, node))
    if isinstance(command, Release):
        for names in _outcomes(command, path.names, values):
            yield Path(names, steps), rest
    elif isinstance(command, Derive):
        names = dict(path.names)
        try:
            names[command.name] = _public(command.value, names)
        except UNKNOWN:
            names.pop(command.name, None)
        yield Path(names, steps), rest
    elif isinstance(command, Branch):
        sides = [
            tuple(_paired(side, under))
            for side, under in zip((command.then, command.otherwise), node["branch"], strict=True)
        ]
        with suppress(*UNKNOWN):
            sides = [sides[0 if _public(command.test, path.names) else 1]]
        for side in sides:
            yield Path(path.names, steps), side + rest
    else:
        inner: list[CommandAndNode] = []
        for (_, part), under in zip(command.parts, node["parts"]["of"], strict=True):
            inner += _paired(part, under)
        yield Path(path.names, steps), (*inner, *rest)


UNKNOWN = (Opaque, AssertionError, KeyError, ZeroDivisionError)


def _public(expr: Expr, names: Mapping[str, ExpressionValue]) -> ExpressionValue:
    """The value of an expression without data. Raises `Opaque` where data decides it."""
    if any(part.op in ("sum", "count", "fold", "transitions", "observe") for part in nodes(expr)):
        raise Opaque("a public sum")
    return Evaluator((), {}, names).value(expr, ())


def _decides(command: Command, read: frozenset[str]) -> bool:
    """Whether what comes later depends on what this command shows."""
    return not isinstance(command, Release | Derive) or command.name in read


def _outcomes(
    release: Release, names: Mapping[str, ExpressionValue], values: tuple[Fraction, ...]
) -> Iterator[Mapping[str, ExpressionValue]]:
    if release.op in ("randomized-response", "per-record-exponential"):
        yield names
        return
    if release.op == "exponential" and release.args[0].op == "hellinger":
        yield names
        return
    noise = release.op in ("laplace", "gaussian")
    length = _length(release.args[0], names) if noise else None
    for value in values:
        yield {**names, release.name: value if length is None else (value,) * length}


def _length(expr: Expr, names: Mapping[str, ExpressionValue]) -> int | None:
    """How many entries a vector has; None for a single number."""
    if expr.op == "public":
        held = names.get(str(expr.data[0]))
        return len(held) if isinstance(held, tuple) else None
    if expr.op == "tuple":
        return len(expr.args)
    if expr.op == "onehot":
        size = expr.data[0]
        assert isinstance(size, int | Fraction)
        return int(size)
    if expr.op == "moments":
        d = _length(expr.args[0], names) or 1
        return d * (d + 1) // 2
    if expr.op == "sum":
        return _length(expr.args[0].args[1], names)
    if expr.op == "transitions":
        return (_length(expr.args[0].args[1], names) or 0) ** 2
    if expr.op in ("add", "sub", "mul", "div", "neg"):
        known = [length for length in (_length(arg, names) for arg in expr.args) if length]
        return max(known) if known else None
    return None


def _read(commands: Sequence[Command]) -> frozenset[str]:
    """Released names that decide what happens later: in data, scores, tests."""
    names: set[str] = set()
    derived: dict[str, set[str]] = {}
    for command in flat(commands):
        if isinstance(command, Release):
            for expr in command.args:
                names |= names_of(expr)
        elif isinstance(command, Derive):
            derived.setdefault(command.name, set()).update(names_of(command.value))
        elif isinstance(command, Branch):
            names |= names_of(command.test)
    for _ in derived:
        for name in set(names):
            names |= derived.get(name, set())
    return frozenset(names)


def _representatives(commands: Sequence[Command]) -> tuple[Fraction, ...]:
    """Values to try: 0, far out, and around constants that released values are compared with."""
    around: list[Fraction] = []
    for expr in expressions(commands):
        for part in nodes(expr):
            if part.op in ("lt", "le", "gt", "ge", "clip", "min", "max") and names_of(part):
                for arg in part.args:
                    value = arg.data[0] if arg.op == "const" else None
                    if isinstance(value, Fraction):
                        around += [value - 1, value, value + 1]
    return tuple(dict.fromkeys([Fraction(0), FAR, -FAR, *around[:9], Fraction(1)]))
