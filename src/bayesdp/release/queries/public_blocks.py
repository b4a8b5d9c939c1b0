"""In which block of a public column all records that a query reads lie, if they do in one."""

from __future__ import annotations

from bayesdp.accounting import Block
from bayesdp.release.spec.study import StudySpec
from bayesdp.statements.conditions import value_kind
from bayesdp.tables.columns.column import Column
from bayesdp.tables.columns.predicates import Predicate
from bayesdp.tables.files.csv_dialect import USUAL


def block_of(study: StudySpec, where: Predicate | None) -> Block | None:
    """The smallest block of a public column outside of which no row matches (theory 2.3 a).

    Only columns with declared states: a table with other values is refused. None where a record is
    several rows, which may lie in several blocks; or a part of a row, which another study may take
    apart in another way.
    """
    if where is None or study.data.unit != "row" or study.data.wide is not None:
        return None
    blocks: list[Block] = []
    for name in sorted(where.columns):
        column = study.columns[name]
        plain = column.bounds is None and column.imputed is None and not column.is_derived
        if not column.is_public or column.states is None or not plain:
            continue
        if not _is_read_alike(study, column):
            continue
        values = where.possible(name, column.states)
        if 0 < len(values) < len(column.states):
            blocks.append(Block(name, values))
    return min(blocks, key=lambda block: len(block.values), default=None)


def _is_read_alike(study: StudySpec, column: Column) -> bool:
    """Whether each study finds the same value of this column in a record of the table.

    Not where the study itself says what cells mean: by another table, which may change, by a format
    of dates, or by how a CSV file writes numbers or texts. A record would lie in one block for this
    study, and in another one for the next.
    """
    looked_up = any(column.name in join.columns for join in study.data.join)
    csv, numbers = study.data.csv, value_kind((column.states or ("",))[0]) == "number"
    usual = (
        (csv.decimal, csv.thousands) == (USUAL.decimal, USUAL.thousands)
        if numbers
        else csv.encoding == USUAL.encoding
    )
    return usual and not looked_up and column.format is None
