"""What `[data.wide]` and `[data.join]` make of tables has to go with the declared columns.

A record is protected by what it alone has. So a private column is one whose cells belong to the
record: made from cells of its own, or looked up by such. A cell that all records of a row share
would stand in each of them, and replacing one of them would leave the others as they are.
"""

from __future__ import annotations

from itertools import pairwise

from bayesdp.errors import InputError, first_names, toml_key
from bayesdp.release.spec.study import StudySpec
from bayesdp.tables.cells.joins import Join
from bayesdp.tables.cells.wide import Wide
from bayesdp.tables.columns.column import Column
from bayesdp.tables.columns.predicates import Predicate


def check_sources(study: StudySpec) -> None:
    """Raises `InputError` where wide tables or joins don't go with the columns or the number n."""
    for position, join in enumerate(study.data.join):
        several = len(study.data.join) > 1
        _check_join(
            study, join, f"data.join[{position}].columns" if several else "data.join.columns"
        )
    wide = study.data.wide
    if wide is None:
        return
    _check_columns(study, wide)
    _check_row(study, wide)
    _check_number(study, wide)
    _check_order(study, wide)


# -- joins ---------------------------------------------------------------------------------


def _check_join(study: StudySpec, join: Join, key: str) -> None:
    """A joined column is public exactly if everybody who knows what is public can look it up."""
    read = [c for c in study.columns.values() if set(c.cells) & set(join.columns)]
    keys = [study.columns.get(name) for name in join.left]
    are_public = all(column is not None and column.is_public for column in keys)
    listed = first_names(join.left)
    for column in read:
        if column.is_public and not are_public:
            raise InputError(
                f"data.columns.{column.name}.public",
                True,
                expected=f"a private column, unless {listed} is declared public: it is looked up "
                "by that",
                remedy="Declare its bounds or states, or declare the key public if it is.",
            )
        if column.is_private and are_public:
            raise InputError(
                f"data.columns.{column.name}",
                expected=f"a public column: everybody can look it up by {listed}, which is public",
                remedy="Write in the place of its line below [data.columns]: "
                f"{toml_key(column.name)} = {{ public = true, states = [...] }}, with its values."
                if column.states is not None
                else "Add public = true to its line.",
                shown=False,
            )
    names = {cell for column in study.columns.values() for cell in column.cells}
    unused = [name for name in join.columns if name not in names and name not in _keys(study)]
    if unused:
        raise InputError(
            key,
            unused[0],
            expected="a column that the study declares",
            remedy="Declare it below [data.columns], or leave it out here.",
        )


def _keys(study: StudySpec) -> set[str]:
    """The columns by which others are looked up."""
    return {name for join in study.data.join for name in join.left}


# -- wide tables ---------------------------------------------------------------------------


def _check_columns(study: StudySpec, wide: Wide) -> None:
    """Declared columns are those of the long table, and private ones belong to one record."""
    gone = set(wide.used) - set(wide.made)
    for column in study.columns.values():
        for cell in column.cells:
            if cell in gone and cell not in study.columns:
                _refuse_used(column.name, cell, wide)
        if column.name in gone and column.name in column.cells:
            _refuse_used(column.name, column.name, wide)
    if study.data.unit != "row" and not _is_of_record(study, wide, study.data.unit):
        return  # all records of a row are of the same unit, which is what is protected
    for column in study.columns.values():
        if column.is_private and not all(
            _is_of_record(study, wide, c) for c in _origins(study, column)
        ):
            raise InputError(
                f"data.columns.{column.name}",
                expected="a column of data.wide.records, or a public one: its cells are those of a "
                f"row, and each of the {wide.parts} records of a row would have them",
                remedy="If the row is what is protected, give data.wide.row a name, and declare "
                "that column public and name it as data.unit.",
                shown=False,
            )


def _check_row(study: StudySpec, wide: Wide) -> None:
    """Numbers of rows tell clusters, series or units apart, and no query is about them.

    They are others where a table has its rows in another order: a group of them has not
    the same records in all releases.
    """
    for name, column in study.columns.items():
        if wide.row not in column.cells:
            continue
        if name != wide.row or column.states is not None:
            raise InputError(
                f"data.columns.{name}.{'from' if name != wide.row else 'states'}",
                expected=f"nothing that is made from '{wide.row}' or lists its values: they number "
                "the rows of a table, in whatever order these stand",
                remedy="Take a column of the table that tells the rows apart.",
                shown=False,
            )
    for position, join in enumerate(study.data.join):
        if wide.row in join.left:
            raise InputError(
                f"data.join[{position}].on" if len(study.data.join) > 1 else "data.join.on",
                wide.row,
                expected=f"other keys than '{wide.row}', which numbers the rows of a table in "
                "whatever order these stand: what is looked up by it would be others' with one "
                "more row before them",
                remedy="Take a column of the table that tells the rows apart.",
            )
    for position, query in enumerate(study.queries):
        where = query.where and Predicate.parse(query.where, study.columns)
        if where and wide.row in where.columns:
            raise InputError(
                f"{study.query_key(position)}.where",
                query.where,
                expected=f"a condition without '{wide.row}', which numbers the rows of a table in "
                "whatever order these stand",
                remedy="Take a column of the table that tells the rows apart.",
            )


def _refuse_used(name: str, cell: str, wide: Wide) -> None:
    made = next(new for new, cells in wide.records.items() if cell in cells)
    raise InputError(
        f"data.columns.{name}",
        expected=f"a column of the long table: '{cell}' is made into '{made}' by [data.wide]",
        remedy=f"Declare '{made}' in its place.",
        shown=False,
    )


def _origins(study: StudySpec, column: Column) -> list[str]:
    """The columns of the long table that a column is read from."""
    cells: list[str] = []
    for cell in column.cells:
        origin = study.columns.get(cell)
        cells += [cell] if origin is None or origin is column else origin.cells
    return cells


def _is_of_record(study: StudySpec, wide: Wide, name: str) -> bool:
    """Whether a column's cells are a record's own: not those of its whole row.

    A column that is looked up is a record's own if its keys are, or are public.
    """
    if name in wide.records or name == wide.position:
        return True
    for join in study.data.join:
        if name in join.columns:
            return all(
                _is_of_record(study, wide, key)
                or ((column := study.columns.get(key)) is not None and column.is_public)
                for key in join.left
            )
    return False


def _check_number(study: StudySpec, wide: Wide) -> None:
    """Unless empty records are left out, there are as many for each row."""
    n = study.data.n
    if study.data.unit != "row" or wide.empty == "skip" or not isinstance(n, int):
        return
    if n % wide.parts:
        raise InputError(
            "data.n",
            n,
            expected=f"a multiple of {wide.parts}: [data.wide] makes {wide.parts} records of each "
            "row, and n counts records",
            remedy=f"Write the number of rows times {wide.parts}.",
        )


def _check_order(study: StudySpec, wide: Wide) -> None:
    """Positions that are an order of records stand in it, as far as that is known here."""
    column = study.columns.get(wide.position)
    if column is None or column.role != "order" or isinstance(wide.values[0], str):
        return
    numbers = [float(value) for value in wide.values]
    if any(first > second for first, second in pairwise(numbers)):
        raise InputError(
            "data.wide.position.values",
            list(wide.values),
            expected=f"increasing numbers, as '{wide.position}' has the role order",
            remedy="Write the columns of each record in the order of time.",
        )
