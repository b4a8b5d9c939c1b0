"""Folds over private rows, row by row and exact up to a tiny step.

After each row the value so far is rounded to a multiple of 2^-100, so that it stays short. The
checker proved that a step never widens a gap; the rounding widens it by at most that much, once for
each row, and noise is scaled up for the total (`private.py`). Whole numbers are not rounded.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from bayesdp.kernel.programs.reading import TRUE
from bayesdp.kernel.programs.rows import RowValue, evaluate
from bayesdp.programs.ir import Expr, Type, columns
from bayesdp.programs.run.tables.rows import RowValues

FOLD_STEP = Fraction(1, 2**100)
_ACC = "\0acc"  # no column has such a name
_WHOLE = ("add", "sub", "mul", "neg", "abs", "min", "max", "clip", "if", "acc", "field", "const")
_TRUTHS = ("lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not")


def folded(expr: Expr, over: RowValues) -> tuple[Fraction, bool]:
    """The value of a fold, and whether every value on the way is a whole number."""
    data, step = expr.args
    # The solvers proved the fold with its exact condition, so no double may decide it here.
    condition = data.args[0]
    row_mask = over.mask(Expr("data", (TRUE, data.args[1]), data.data))
    names = sorted(columns(step) | columns(condition))
    start = expr.data[0]
    assert isinstance(start, int | Fraction)
    exact = Fraction(start).denominator == 1 and _is_whole(step, over.kinds)
    rows = np.flatnonzero(row_mask) if row_mask is not None else range(over.rows.size)
    so_far = Fraction(start)
    lists = {name: _cells(over, name) for name in names}
    step = _named(step)
    for i in rows:
        row: dict[str, RowValue] = {name: cells[i] for name, cells in lists.items()}
        if condition != TRUE and not evaluate(condition, row, over.kinds):
            continue
        row[_ACC] = so_far
        value = evaluate(step, row, over.kinds)
        assert isinstance(value, bool | Fraction)
        so_far = Fraction(value) if exact else FOLD_STEP * round(Fraction(value) / FOLD_STEP)
    return so_far, exact


def _named(step: Expr) -> Expr:
    """The step with the value so far as one more column."""
    if step.op == "acc":
        return Expr("field", (), (_ACC,))
    return Expr(step.op, tuple(_named(arg) for arg in step.args), step.data)


def _cells(over: RowValues, name: str) -> list[RowValue]:
    kind, held = over.kinds[name], over.rows.columns[name]
    if kind.kind == "category":
        return [kind.labels[cell] for cell in held.tolist()]
    if kind.kind == "bool":
        return [bool(cell) for cell in held.tolist()]
    return [Fraction(cell) for cell in held.tolist()]


def _is_whole(expr: Expr, kinds: Mapping[str, Type]) -> bool:
    if expr.op in _TRUTHS:
        return True
    if expr.op not in _WHOLE:
        return False
    if expr.op == "field":
        return kinds[str(expr.data[0])].kind in ("bool", "int")
    if expr.op == "const":
        value = expr.data[0]
        return isinstance(value, bool | int | Fraction) and Fraction(value).denominator == 1
    args = expr.args[1:] if expr.op == "if" else expr.args
    return all(_is_whole(arg, kinds) for arg in args)
