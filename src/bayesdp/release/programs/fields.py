"""A program's record and a study's columns: the same values, the same secrets."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

from bayesdp.errors import InputError, closest, did_you_mean, first_names, toml_key
from bayesdp.release.spec.parts import QuerySpec
from bayesdp.release.spec.study import StudySpec
from bayesdp.statements.base import exact_text
from bayesdp.statements.conditions import value_kind
from bayesdp.tables.columns.column import Column

if TYPE_CHECKING:
    from bayesdp.programs.ir import Program, Type


def agreed(
    core: Program, study: StudySpec, query: QuerySpec, key: str
) -> tuple[dict[str, str], tuple[str, ...]]:
    """The columns of the record's fields that a program reads, by field, and notes on their bounds.

    A record that is one value goes by the name of the program's database. Raises `InputError` where
    a field has no column, or a column of another kind, or a private column where the program takes
    it for public.
    """
    types = dict(core.record if core.persons is None else core.persons.rows)
    shown = {core.database if core.scalar else name: name for name in types}
    for given in query.columns:
        if given not in shown:
            raise InputError(
                f"{key}.columns.{given}",
                query.columns[given],
                expected=f"a field of the program's record: {first_names(list(shown))}",
                remedy=closest(given, shown),
            )
    read = fields_read(core)
    fields: dict[str, str] = {}
    notes: list[str] = []
    for field, name in shown.items():
        if name not in read:
            continue
        place = f"{key}.columns.{field}"
        stated = query.columns.get(field, field)
        column = study.columns.get(stated)
        if column is None:
            raise InputError(
                place,
                stated,
                expected=f"a declared column for '{field}', which '{query.program}' reads",
                remedy=did_you_mean(stated, study.columns)
                or f"Declare it, or name another one: columns = {{ {field} = 'column' }}.",
            )
        _check(field, types[name], column, place)
        fields[name] = stated
        notes += _notes(field, types[name], column)
    return fields, tuple(notes)


def fields_read(core: Program) -> frozenset[str]:
    """The table's fields that commands, results and preconditions read, public ones too."""
    from bayesdp.programs.ir import columns_read

    of_record = columns_read(core.body, [*core.returns, *core.requires])
    return of_record if core.persons is None else core.persons.reads(of_record)


def require_record(core: Program, study: StudySpec, key: str) -> None:
    """Raises `InputError` at `key` of a `study` where it calls another thing a record."""
    unit, most, persons = study.data.unit, study.data.rows_per_record, core.persons
    if persons is None and unit != "row":
        raise InputError(
            f"{key}.program",
            core.name,
            expected=f"a program whose record is all rows of a '{unit}', as the study's is",
            remedy=f"Write group_by({core.database}, by={unit!r}, most={most}) in the program, and "
            "fold each record's rows.",
        )
    if persons is None:
        return
    if unit != persons.by:
        raise InputError(
            f"{key}.program",
            core.name,
            expected=f"a program whose record is that of the study: data.unit is {unit!r}, and the "
            f"program groups by {persons.by!r}",
            remedy=f'Write below [data]: unit = "{persons.by}" and max_rows = {persons.most}.',
        )
    if persons.most > most:
        raise InputError(
            f"{key}.program",
            core.name,
            expected=f"most to be at most {most}, the rows of a record that count in the study",
            remedy=f"Write most={most} in the program.",
        )


def units_of(core: Program, units: Mapping[str, str | None]) -> dict[str, str]:
    """The units of the record's columns, from `units`: those of the table's."""
    if core.persons is None:
        return {name: unit or "" for name, unit in units.items()}
    kept = ("sum", "mean", "min", "max", "first", "last", "same")
    return {
        name: (units.get(str(fold.value.data[0])) or "")
        if fold.op in kept and fold.value.op == "field"
        else ""
        for name, fold in core.persons.folds
    }


def _check(field: str, kind: Type, column: Column, place: str) -> None:
    if kind.public and column.is_private:
        raise InputError(
            place,
            column.name,
            expected=f"a public column: the program takes '{field}' for Public[...]",
            remedy="Write in the place of its line below [data.columns]: "
            f"{toml_key(column.name)} = {{ public = true }} if "
            "it is not to be protected, or leave Public[...] out of the record.",
        )
    levels = column.levels
    if levels is None and column.bounds is None:
        return  # public, and nothing is declared of it: the table is held against the program
    if kind.kind == "category":
        _check_category(kind, column, place)
    elif kind.kind == "bool":
        if levels is None or not set(levels) <= {0, 1}:  # True == 1, False == 0
            _refuse(place, column, "a column of states [0, 1] or [false, true] for a Bool")
    elif levels is not None and value_kind(levels[0]) != "number":
        _refuse(place, column, f"a column of numbers for '{field}'")
    elif kind.kind == "int":
        ends = levels if levels is not None else column.bounds
        assert ends is not None
        if any(float(end) != int(end) for end in ends):
            _refuse(place, column, "whole numbers, in bounds and states, for an Int")
    if column.bounds is not None and kind.low is not None and kind.high is not None:
        low, high = (Fraction(end) for end in column.bounds)
        if high < kind.low or kind.high < low:
            _refuse(
                place,
                column,
                f"bounds that meet the program's own, {_span(kind.low, kind.high)}",
            )


def _check_category(kind: Type, column: Column, place: str) -> None:
    levels = column.levels
    if levels is None or value_kind(levels[0]) != "text":
        _refuse(place, column, "a column of declared states that are texts for a Category")
    missing = [str(level) for level in levels or () if level not in kind.labels]
    if missing:
        raise InputError(
            f"data.columns.{column.name}.states",
            missing[0],
            expected=f"one of the program's labels: {first_names(kind.labels)}",
            remedy="A record with another label would stop the program: give the Category all "
            "states, or the column fewer.",
        )


def _refuse(place: str, column: Column, expected: str) -> None:
    if column.bounds is not None:
        has = f"bounds {list(column.bounds)}"
    else:
        has = f"states {list(column.levels or ())}"
    raise InputError(place, f"{column.name} ({has})", expected=expected)


def _notes(field: str, kind: Type, column: Column) -> list[str]:
    """Which bounds count: values are clipped to the study's first, then to the program's own."""
    if kind.kind not in ("int", "real") or column.bounds is None or kind.low is None:
        return []
    assert kind.high is not None
    low, high = (Fraction(end) for end in column.bounds)
    inner = max(low, kind.low), min(high, kind.high)
    if inner == (low, high) == (kind.low, kind.high):
        return []
    whose = "the study's" if inner == (low, high) else "the program's"
    if inner not in ((low, high), (kind.low, kind.high)):
        whose = "both together"
    return [
        f"'{field}' is clipped to the study's {_span(low, high)}, then to the program's "
        f"{_span(kind.low, kind.high)}: {whose} count"
    ]


def _span(low: Fraction, high: Fraction) -> str:
    return f"{exact_text(float(low))} to {exact_text(float(high))}"
