"""The states of a column, declared as in a study: by values, cuts, or a condition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bayesdp.errors import InputError
from bayesdp.populations.markov import MOST_STATES
from bayesdp.statements.columns import Value
from bayesdp.tables.cells.reading import MISSING, ReadColumn, read
from bayesdp.tables.columns.declarations import parse_columns
from bayesdp.tables.literals import literal
from bayesdp.tables.source import Table


@dataclass(frozen=True, eq=False)
class States:
    """How the states of a `column` are read: `levels` are their values.

    `derived` states are numbered from 0 as they are read; others are read as values.
    """

    column: str
    reading: ReadColumn
    levels: tuple[Value, ...]
    derived: bool

    @property
    def missing(self) -> Any:
        """Which cells are missing, as an expression of the table."""
        return self.reading.faults[MISSING]

    def number(self, value: Any) -> Any:
        """The number of the state, from 1 on, that a cell has, whose `reading.value` this is."""
        import ibis

        def code(number: int) -> Any:
            return ibis.literal(number, "int16")

        if self.derived:
            return value.cast("int16") + code(1)
        return ibis.cases(*((value == literal(v), code(i)) for i, v in enumerate(self.levels, 1)))


def read_states(table: Table, column: str, declared: Mapping[str, Any]) -> States:
    """The states of a column. `declared` has `states`, `cuts` or `where`, the others `None`.

    Raises `InputError` about the argument that is wrong.
    """
    ways = {key: value for key, value in declared.items() if value is not None}
    if len(ways) != 1:
        raise InputError(
            "states",
            sorted(ways),
            expected="one way to say what the states are: states, cuts or where",
            remedy="For example --states 0,1 or --where 'steps > 0' (in Python states=[0, 1]).",
        )
    (way,) = ways
    derived = way != "states"
    name = f"{column} as states" if derived else column
    keys: dict[str, Any] = {"from": column, **ways} if derived else dict(ways)
    if column in table.codes:
        keys["missing"] = {"codes": table.codes[column]}
    try:
        columns = parse_columns({name: keys})
        reading = read(table, columns, name)
    except InputError as error:
        raise error.at(_argument(error.key, name)) from None
    levels = tuple(columns[name].levels or ())
    if not 2 <= len(levels) <= MOST_STATES:
        raise InputError(
            way,
            f"{len(levels)} states",
            expected=f"at least two states, at most {MOST_STATES}",
            remedy="Name two states or more."
            if len(levels) < 2
            else "Merge states, or cut the values at fewer points.",
        )
    return States(column, reading, levels, derived)


def _argument(key: str, name: str) -> str:
    """The argument that a key of a column's declaration stands for."""
    last = key.removeprefix(f"data.columns.{name}").removeprefix(".")
    return {"": "column", "from": "column", "missing.codes": "codes"}.get(last, last)
