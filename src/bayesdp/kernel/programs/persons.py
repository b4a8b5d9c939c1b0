"""Records of several rows: what their columns may be made of, and what a certificate says of it.

All rules are about the record. Each of its columns is a number or label that is computed from the
record's own rows before anything is released, and held inside its declared bounds; so one record
that is replaced, with all its rows, replaces one line of these columns, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable

from bayesdp.kernel.arithmetic import require
from bayesdp.kernel.programs.reading import TRUE, Program
from bayesdp.statements.program_documents import PersonsDocument

_OF_A_ROW = frozenset(
    (
        *("const", "field", "add", "sub", "mul", "div", "neg", "abs", "min", "max", "clip"),
        *("floor", "sqrt", "log", "exp", "lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not"),
        *("if", "cross"),
    )
)
"""Operations on values of one row alone."""
_STEP = "persons"


def check_persons(program: Program) -> None:
    """`InvalidError` unless each column of a record is made of its own rows.

    A column is public only if it is one that all rows of a record share, and that is public there.
    What tells records apart is not a protected column: how many there are is public.
    """
    persons = program.persons
    if persons is None:
        return
    rows, made = dict(persons.rows), persons.made
    key = rows.get(persons.by)
    reason = f"records are told apart by {persons.by!r}, which is protected"
    require(key is None or key.public, reason, _STEP)
    for name, column in program.columns.items():
        fold = made[name]
        require(fold.reads <= set(rows), f"{name!r} reads a column that rows don't have", _STEP)
        operations = {node.op for part in fold.parts for node in part.walk()}
        require(operations <= _OF_A_ROW, f"{name!r} reads more than one row", _STEP)
        if column.public:
            shared = fold.op == "same" and fold.filter == TRUE and fold.value.op == "field"
            require(
                shared and rows[str(fold.value.data[0])].public,
                f"{name!r} is called public, and is made of a record's rows",
                _STEP,
            )


def columns_behind(program: Program, read: Iterable[str]) -> frozenset[str]:
    """The table's columns behind these columns of a record."""
    persons = program.persons
    if persons is None:
        return frozenset(read)
    made = persons.made
    return frozenset().union(*(made[name].reads for name in read))


def said_of(persons: PersonsDocument) -> tuple[str, ...]:
    """What a certificate rests on where a record is several rows."""
    return (
        f"a record is all rows with the same '{persons.by}', of which at most {persons.most} "
        f"count{'s' * (persons.most == 1)}: which ones, and what the record's columns are made of "
        "them, is a function of these rows alone",
    )


__all__ = ["check_persons", "columns_behind", "said_of"]
