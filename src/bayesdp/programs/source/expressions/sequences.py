"""What loops and generators go over: tuples, ranges, rows, and the pieces of a partition."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from bayesdp.programs.ir import Expr, Parts
from bayesdp.programs.source.drafts.arguments import single
from bayesdp.programs.source.drafts.context import MOST_STEPS, Context
from bayesdp.programs.source.drafts.values import (
    TRUE,
    Data,
    Dictionary,
    Items,
    LoweredValue,
    ModelObject,
    Parted,
    PersonRows,
    PersonVariable,
    RecordVariable,
    Scalar,
    constant,
    described,
    entries_of,
    scalar,
    static,
    static_number,
)
from bayesdp.programs.source.syntax.diagnostics import ProgramError, place, refuse

ENDED = (
    "belongs to one piece of a partition, and the loop over the pieces has ended: release inside "
    "the loop."
)


def assign(target: ast.expr, value: LoweredValue, context: Context) -> None:
    """Give a name a value, or each of several names an entry."""
    if isinstance(target, ast.Name):
        if target.id == context.draft.database and isinstance(
            context.scope.names.get(target.id), Data
        ):
            raise refuse("name", target, f"'{target.id}' is the database.", "Use another name.")
        context.draft.weigh(value, target)
        context.scope.bind(target.id, value)
    elif isinstance(target, ast.Tuple | ast.List):
        parts = entries(value, target)
        if len(parts) != len(target.elts):
            raise refuse("construct", target, f"There are {len(parts)} values to unpack.")
        for inner, part in zip(target.elts, parts, strict=True):
            assign(inner, part, context)
    else:
        raise refuse(
            "effect",
            target,
            "Only names are assigned: changing a column or an entry would change the data.",
            "Give the new value a name.",
        )


def entries(value: LoweredValue, node: ast.AST) -> tuple[LoweredValue, ...]:
    """The entries of a tuple or vector."""
    if isinstance(value, Items):
        return value.items
    if isinstance(value, Scalar) and value.type.kind == "vector":
        return entries_of(value, place(node))
    raise refuse("type", node, f"{described(value).capitalize()} can't be unpacked.")


def sequence(
    node: ast.expr, context: Context
) -> Data | PersonRows | Parted | tuple[LoweredValue, ...]:
    """The sequence that a loop goes over: private data, pieces of a partition, or entries."""
    called = node.func if isinstance(node, ast.Call) else None
    if isinstance(called, ast.Name) and called.id in ("zip", "enumerate"):
        assert isinstance(node, ast.Call)
        return _zipped(node, context)
    over = context.value(node)
    if isinstance(over, PersonVariable):
        return PersonRows(TRUE, RecordVariable(over.rows))
    if isinstance(over, Parted | Data | PersonRows):
        return over
    if isinstance(over, ModelObject) and over.kind == "candidates" and over.expr.op == "range":
        ends = [end.data[0] for end in over.expr.args]
        start, stop, step = (int(end) for end in ends if isinstance(end, Fraction))
        steps = range(start, stop, step)
        if abs(stop - start) > MOST_STEPS * abs(step):
            raise refuse("size", node, f"This loop has more than {MOST_STEPS} steps.")
        return tuple(static_number(Fraction(value), node) for value in steps)
    if isinstance(over, Items):
        return over.items
    if isinstance(over, Dictionary):
        return tuple(static(key, node) for key in over.keys)
    if isinstance(over, Scalar) and over.type.kind == "vector":
        return entries(over, node)
    raise refuse(
        "private-control" if isinstance(over, Scalar) and over.level == "private" else "type",
        node,
        f"A loop goes over what is known beforehand, and here stands {described(over)}.",
        "A tuple, range(...) of literals, or partition(people, by=...).",
    )


def _zipped(node: ast.Call, context: Context) -> Data | Parted | tuple[LoweredValue, ...]:
    assert isinstance(node.func, ast.Name)
    lists: list[Data | Parted | tuple[LoweredValue, ...]] = []
    for argument in node.args:
        part = sequence(argument, context)
        if isinstance(part, PersonRows):
            raise refuse(
                "construct",
                argument,
                "A person's rows are gone through one by one.",
                "(v.cost * v.days for v in p) has both columns of a row.",
            )
        lists.append(part)
    if node.keywords or not lists:
        raise refuse("arguments", node, f"{node.func.id} takes tuples.")
    if node.func.id == "enumerate":
        if len(lists) != 1:
            raise refuse("arguments", node, "enumerate takes one tuple.")
        (over,) = lists
        if isinstance(over, Data):
            raise pairs(node)
        many = len(over.labels) if isinstance(over, Parted) else len(over)
        lists.insert(0, tuple(static_number(Fraction(i), node) for i in range(many)))
    without_rows = [over for over in lists if not isinstance(over, Data)]
    if len(without_rows) < len(lists):
        return beside_rows(lists, node)
    if any(isinstance(over, Parted) for over in lists):
        return _beside_pieces(without_rows, node)
    known = [over for over in lists if isinstance(over, tuple)]
    if len({len(values) for values in known}) > 1:
        raise refuse("type", node, "zip takes tuples of one length.")
    return tuple(Items(tuple(parts)) for parts in zip(*known, strict=True))


def _beside_pieces(lists: list[Parted | tuple[LoweredValue, ...]], node: ast.AST) -> Parted:
    """The pieces of one partition, each beside an entry of tuples of as many entries."""
    parted = [over for over in lists if isinstance(over, Parted)]
    beside = tuple(None if isinstance(over, Parted) else over for over in lists)
    if len(parted) > 1 or parted[0].beside:
        raise refuse(
            "construct",
            node,
            "One partition is gone through at a time.",
            "Partition a piece again inside the loop over the first: for a, b in partition(piece, "
            "by=...).",
        )
    labels = parted[0].labels
    if any(isinstance(over, tuple) and len(over) != len(labels) for over in lists):
        raise refuse(
            "type",
            node,
            f"The partition has {len(labels)} pieces, and stands beside another number of entries.",
            f"Its labels are {', '.join(labels)}, in this order: one entry for each.",
        )
    return replace(parted[0], beside=beside)


def beside_rows(lists: list[Data | Parted | tuple[LoweredValue, ...]], node: ast.AST) -> Data:
    """The values of one record beside each other: all lists go through the same records."""
    data = [over for over in lists if isinstance(over, Data)]
    same = len({(over.pieces, over.filter) for over in data}) == 1
    if len(data) < len(lists) or not same:
        raise pairs(node)
    rows = [over.row for over in data]
    return Data(data[0].pieces, data[0].filter, Items(tuple(rows)))


def call_zip(node: ast.Call, context: Context) -> LoweredValue:
    """`zip(a, b)` and `enumerate(a)` of static tuples."""
    over = _zipped(node, context)
    return Items(over) if isinstance(over, tuple) else over


def call_range(node: ast.Call, context: Context) -> LoweredValue:
    """`range(stop)`, `range(start, stop[, step])` of public whole numbers."""
    if node.keywords or not 1 <= len(node.args) <= 3:
        raise refuse("arguments", node, "range takes one to three whole numbers.")
    parts = []
    for argument in node.args:
        number = scalar(context.value(argument), argument)
        if number.of_records:
            raise refuse(
                "private-control",
                argument,
                "How often this loop runs would depend on private data.",
                "Use a literal or a public argument.",
            )
        value = number.expr.data[0] if number.level == "static" else None
        if number.released or number.level != "static":
            raise refuse(
                "static", argument, "A range is known before the data is read.", "Use literals."
            )
        if not isinstance(value, Fraction) or value.denominator != 1:
            raise refuse("type", argument, "A range is of whole numbers.")
        parts.append(value)
    start, stop = (Fraction(0), parts[0]) if len(parts) == 1 else (parts[0], parts[1])
    step = parts[2] if len(parts) == 3 else Fraction(1)
    if step == 0:
        raise refuse("arguments", node, "A range's step is not 0.")
    args = tuple(constant(part) for part in (start, stop, step))
    return ModelObject("candidates", Expr("range", args, (), place(node)), "int")


def call_tuple(node: ast.Call, context: Context) -> LoweredValue:
    """`tuple(...)` and `list(...)` of a static sequence."""
    assert isinstance(node.func, ast.Name)
    changes = node.func.id == "list"
    if not node.args and not node.keywords:
        return Items((), changes)
    over = sequence(single(node, "items"), context)
    if isinstance(over, Data | PersonRows):
        raise refuse("private-output", node, "Private rows are not collected.", "Sum them up.")
    if isinstance(over, Parted):
        raise refuse("type", node, "A partition is looped over.", "for piece in partition(...)")
    return Items(over, changes)


def _beside(over: Parted, at: int, named: Items, target: ast.expr) -> LoweredValue:
    """What a loop over pieces gives its target: the piece, with its label where two are named.

    `named` is the label and the piece at place `at` of the partition. After `zip` there is an entry
    of each list, and the target has a name, or a pair of names, for the piece.
    """
    if not over.beside:
        return named if isinstance(target, ast.Tuple) else named.items[1]
    if not isinstance(target, ast.Tuple) or len(target.elts) != len(over.beside):
        return Items(tuple(named if listed is None else listed[at] for listed in over.beside))
    return Items(
        tuple(
            listed[at]
            if listed is not None
            else named
            if isinstance(inner, ast.Tuple)
            else named.items[1]
            for inner, listed in zip(target.elts, over.beside, strict=True)
        )
    )


def pieces(
    over: Parted, target: ast.expr, node: ast.AST, context: Context, run: Callable[[], None]
) -> None:
    """The commands for each label; names that stand for a piece end with the loop."""
    parts = []
    data = over.data
    for place_in, label in enumerate(over.labels):
        context.draft.tick(node)
        piece = Data((*data.pieces, (over.column, label)), data.filter, data.row)
        label_value = static(label, node)
        with context.draft.apart() as commands:
            assign(target, _beside(over, place_in, Items((label_value, piece)), target), context)
            run()
        parts.append((label, tuple(commands)))
    for part in ast.walk(target):
        if isinstance(part, ast.Name):
            context.scope.lose(part.id, ENDED)
    # What was made of a piece inside the loop is private to it and can't be used after it.
    for name, value in list(context.scope.names.items()):
        if _holds_piece(value, (over.column,), data.pieces):
            context.scope.lose(name, ENDED)
    context.draft.commands.append(Parts(over.column, over.public, tuple(parts), place(node)))


def _holds_piece(value: LoweredValue, columns: tuple[str, ...], outside: object) -> bool:
    if isinstance(value, Items):
        return any(_holds_piece(entry, columns, outside) for entry in value.items)
    if isinstance(value, Dictionary):
        return any(_holds_piece(entry, columns, outside) for entry in value.values)
    if isinstance(value, Data):
        return value.pieces != outside and any(c in columns for c, _ in value.pieces)
    if isinstance(value, Scalar):
        return value.level == "private" and _reads_piece(value.expr, columns)
    if isinstance(value, ModelObject):
        return not value.kind.startswith("released") and _reads_piece(value.expr, columns)
    return False


def _reads_piece(expr: Expr, columns: tuple[str, ...]) -> bool:
    if expr.op == "data":
        pieces = expr.data[0]
        assert isinstance(pieces, tuple)
        return any(isinstance(piece, tuple) and piece[0] in columns for piece in pieces)
    return any(_reads_piece(part, columns) for part in expr.args)


def pairs(node: ast.AST) -> ProgramError:
    """The refusal of a second walk over the data inside the first."""
    return refuse(
        "construct",
        node,
        "A generator goes over private data once: pairs of records have no bound.",
        "Write one `for` over the data; a sum of squares or products is taken inside one row.",
    )
