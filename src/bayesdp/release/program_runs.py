"""Running a program of a study: its rows before the debit, its noise after it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bayesdp.errors import TableMismatchError
from bayesdp.release.program_results import ProgramAnswer
from bayesdp.release.programs import PlannedProgram
from bayesdp.tables.columns import Column
from bayesdp.tables.refusals import Finding, mismatch
from bayesdp.tables.rows import Wanted, read_columns
from bayesdp.tables.source import Table

if TYPE_CHECKING:
    from bayesdp.programs.ir import Program

_WANTED: dict[str, Wanted] = {"bool": "truth", "int": "number", "real": "number"}


def narrowed(program: PlannedProgram) -> Program:
    """The program over the fields that it reads: the table need not have the others."""
    fields = tuple((name, kind) for name, kind in program.core.record if name in program.fields)
    return replace(program.core, record=fields)


def program_rows(program: PlannedProgram, table: Table, columns: Mapping[str, Column]) -> Any:
    """The private rows that a program reads, as its record declares them.

    Raises `TableMismatchError`, with the words of every such refusal, where a cell is not, and
    `InputError` for what is refused because of the number of records.
    """
    from bayesdp.programs.run.readiness import ready
    from bayesdp.programs.run.table import load

    core = narrowed(program)
    found = _cells(program, table, columns)
    fits = True
    try:
        rows = load(core, found)
    except TableMismatchError:
        fits = False
    if not fits:  # raised outside of the handler, so that no traceback leads to cells
        raise mismatch()
    ready(core, program.verdict, rows)
    return rows


def program_findings(
    program: PlannedProgram, table: Table, columns: Mapping[str, Column]
) -> list[Finding]:
    """What is wrong with the cells that a program reads. Private: for the curator only."""
    from bayesdp.programs.run.table import inspect_table

    found = inspect_table(narrowed(program), _cells(program, table, columns))
    name = program.spec.name
    return [Finding(one.code, f"Program '{name}': {one.message}") for one in found]


def _cells(program: PlannedProgram, table: Table, columns: Mapping[str, Column]) -> Any:
    wanted = {
        name or program.core.database: (program.fields[name], _WANTED.get(kind.kind, "text"))
        for name, kind in narrowed(program).record
    }
    return read_columns(table, columns, wanted)


def run_program(program: PlannedProgram, rows: Any) -> ProgramAnswer:
    """Run the program once on its rows. Its cost has been debited."""
    from bayesdp.programs.run import run_on

    done = run_on(narrowed(program), program.verdict, rows)
    return ProgramAnswer(
        program.spec.name,
        program.shown,
        tuple(done.outputs),
        tuple(program.core.return_types),
        program.dp_epsilon,
        program.dp_rho,
        dict(done.releases),
    )
