"""Rows that follow each other, by public columns: which pairs there are, and their values' counts.

Which rows follow which is public, and so are the number of pairs and of unbroken runs of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from bayesdp.errors import InputError
from bayesdp.programs.ir import Expr

if TYPE_CHECKING:
    from bayesdp.arrays import Ints
    from bayesdp.programs.run.tables.rows import RowValues


@dataclass(frozen=True, eq=False)
class ConsecutiveRows:
    """Pairs of rows, `before` and `behind` by place in the table; how many `runs` they form.

    `repeated`: how many rows have their place together with other rows, and are in no pair.
    """

    before: Ints
    behind: Ints
    runs: int
    repeated: int


def consecutive(expr: Expr, rows: RowValues) -> ConsecutiveRows:
    """The pairs of rows whose transitions `expr` counts. Public columns alone decide."""
    data, *keys = expr.args
    row_mask = rows.mask(data)
    places = np.arange(rows.rows.size) if row_mask is None else np.flatnonzero(row_mask)
    step, *unit = (np.asarray(rows.rows.columns[str(key.data[0])])[places] for key in keys)
    units = unit[0] if unit else np.zeros(len(places))
    order = np.lexsort((step, units))
    places, step, units = places[order], step[order].astype(np.float64), units[order]
    same = units[1:] == units[:-1]
    twice = same & (step[1:] == step[:-1])
    alone = ~(np.append(twice, False) | np.append(False, twice))[: len(places)]
    linked = same & (step[1:] == step[:-1] + 1) & alone[1:] & alone[:-1]
    begins = linked & ~np.append(False, linked)[: len(linked)]
    return ConsecutiveRows(
        places[:-1][linked], places[1:][linked], int(begins.sum()), int((~alone).sum())
    )


def counted(expr: Expr, rows: RowValues) -> list[int]:
    """How often which value follows which. Private."""
    hot = expr.args[0].args[1]
    size = hot.data[0]
    assert isinstance(size, Fraction)
    many = int(size)
    codes = np.clip(rows.codes(hot.args[0]), 0, many - 1)
    pairs = consecutive(expr, rows)
    cells = codes[pairs.before] * many + codes[pairs.behind]
    counts: list[int] = np.bincount(cells, minlength=many * many).tolist()
    return counts


def check_places(expr: Expr, rows: RowValues) -> None:
    """Refuse a table in which several rows have one place. Raises `InputError`."""
    repeated = consecutive(expr, rows).repeated
    if not repeated:
        return
    step, *unit = (str(key.data[0]) for key in expr.args[1:])
    raise InputError(
        f"record.{step}",
        f"{repeated} rows that have theirs together with others",
        expected="for transition_counts one row for each step"
        + (f" of each '{unit[0]}'" if unit else ""),
        remedy="Make a table with one row for each step."
        if unit
        else 'If the rows are of several series, name the public column of series: by="person".',
    )
