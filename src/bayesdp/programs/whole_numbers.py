"""Which values are certainly whole numbers: noise on those lies on whole numbers too.

The front end types a release by it and the interpreter chooses its grid by it, so that what a
program calls an Int is one. It is decided by the representation alone, never by a value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from fractions import Fraction

from bayesdp.programs.ir import Branch, Command, Derive, Expr, Parts, Release, Type

_ALWAYS = (
    "count",
    "floor",
    "onehot",
    "transitions",
    "lt",
    "le",
    "gt",
    "ge",
    "eq",
    "ne",
    "and",
    "or",
    "not",
    "acc",
)
_CLOSED = ("add", "sub", "mul", "neg", "abs", "min", "max", "clip", "tuple", "item")


def is_whole(expr: Expr, columns: Mapping[str, Type], names: AbstractSet[str]) -> bool:
    """Whether a value (of a vector: every entry) is certainly a whole number.

    `columns` are the types of the record, `names` the released and derived values that are whole.
    A value so far (`acc`) is whole because a fold is only if its start and its step are.
    """
    op = expr.op
    if op in _ALWAYS or (op == "public" and expr.data[0] == "db.size"):
        return True
    if op == "const":
        value = expr.data[0]
        return isinstance(value, int | Fraction) and Fraction(value).denominator == 1
    if op == "public":
        return str(expr.data[0]) in names
    if op == "field":
        return columns[str(expr.data[0])].kind in ("int", "bool")
    if op == "fold":
        start = expr.data[0]
        assert isinstance(start, int | Fraction)
        begins = Fraction(start).denominator == 1
        return begins and is_whole(expr.args[1], columns, names)
    if op == "sum":
        return is_whole(expr.args[0].args[1], columns, names)
    if op == "if":
        return all(is_whole(side, columns, names) for side in expr.args[1:])
    return op in _CLOSED and all(is_whole(arg, columns, names) for arg in expr.args)


def releases_whole(release: Release, columns: Mapping[str, Type], names: AbstractSet[str]) -> bool:
    """Whether what a release gives is certainly whole, as are all entries of a vector."""
    if release.op in ("laplace", "gaussian"):
        return is_whole(release.args[0], columns, names)
    if release.op == "above-threshold":
        return True
    candidates = release.args[-1]
    if release.op not in ("exponential", "posterior-sample"):
        return False
    listed = candidates.op == "values"
    return candidates.op == "range" or (
        listed and all(is_whole(arg, columns, names) for arg in candidates.args)
    )


def whole_names(
    commands: Sequence[Command],
    columns: Mapping[str, Type],
    before: frozenset[str] = frozenset(),
) -> frozenset[str]:
    """The names of commands that certainly stand for whole numbers, and those known `before`.

    `columns` are the types of the record. A name that both sides of a branch give is whole if both
    values are.
    """
    names = before
    for command in commands:
        if isinstance(command, Release):
            whole = releases_whole(command, columns, names)
            names |= {command.name} if whole else frozenset()
        elif isinstance(command, Derive):
            whole = is_whole(command.value, columns, names)
            names |= {command.name} if whole else frozenset()
        elif isinstance(command, Branch):
            names |= _of_branch(command, columns, names)
        else:
            assert isinstance(command, Parts)
            for _, part in command.parts:
                names |= whole_names(part, columns, names)
    return names


def _of_branch(
    branch: Branch, columns: Mapping[str, Type], before: frozenset[str]
) -> frozenset[str]:
    sides = [whole_names(side, columns, before) for side in (branch.then, branch.otherwise)]
    named_by_side = [_given(side) for side in (branch.then, branch.otherwise)]
    both, either = named_by_side[0] & named_by_side[1], sides[0] | sides[1]
    return (either - both) | (sides[0] & sides[1])


def _given(commands: Sequence[Command]) -> frozenset[str]:
    """The names that commands give a value, at any depth."""
    names: set[str] = set()
    for command in commands:
        if isinstance(command, Branch):
            names |= _given(command.then) | _given(command.otherwise)
        elif isinstance(command, Parts):
            names.update(*(_given(part) for _, part in command.parts))
        else:
            names.add(command.name)
    return frozenset(names)
