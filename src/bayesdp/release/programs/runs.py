"""Running a program of a study: its rows before the debit, its noise after it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bayesdp.accounting.transaction import error_words
from bayesdp.errors import TableMismatchError, as_shown
from bayesdp.release.programs.answers import ProgramAnswer, is_distribution
from bayesdp.release.programs.outputs import output_cells, output_labels
from bayesdp.release.programs.planned import PlannedProgram
from bayesdp.tables.checks.structure import Structure
from bayesdp.tables.columns.column import Column
from bayesdp.tables.refusals import Finding, mismatch
from bayesdp.tables.source import Table
from bayesdp.tables.sums.rows import Wanted, read_columns

if TYPE_CHECKING:
    from bayesdp.programs.ir import Program
    from bayesdp.programs.run.tables.columns import Rows

CHAIN_FAMILY = "chain"
_WANTED: dict[str, Wanted] = {"bool": "truth", "int": "number", "real": "number"}


def narrowed(program: PlannedProgram) -> Program:
    """The program over the fields that it reads: the table need not have the others."""
    core = program.core
    if core.persons is None:
        fields = tuple((name, kind) for name, kind in core.record if name in program.fields)
        return replace(core, record=fields)
    rows = tuple((name, kind) for name, kind in core.persons.rows if name in program.fields)
    return replace(core, persons=replace(core.persons, rows=rows))


def program_rows(
    program: PlannedProgram, table: Table, columns: Mapping[str, Column], records: Structure
) -> Rows:
    """The private rows that a program reads from a table, as its record declares them.

    `records` says which rows of a record count, where it is several; `columns` are the study's.
    Raises `TableMismatchError` where a cell is not as declared (in the same words for every cell),
    and `InputError` for what is refused because of the number of records.
    """
    from bayesdp.programs.run.machine.readiness import ready
    from bayesdp.programs.run.tables.loading import load

    core = narrowed(program)
    cells = _cells(program, table, columns, records)
    fits = True
    try:
        rows = load(core, cells)
    except TableMismatchError:
        fits = False
    if not fits:  # raised outside of the handler, so that no traceback leads to cells
        raise mismatch()
    ready(core, program.verdict, rows)
    return rows


def program_findings(
    program: PlannedProgram, table: Table, columns: Mapping[str, Column], records: Structure
) -> list[Finding]:
    """What is wrong with the cells of `table` that a program reads, declared in `columns`.

    `records` says which rows of a record count. Private: for the curator only.
    """
    from bayesdp.programs.run.tables.loading import inspect_table

    mismatches = inspect_table(narrowed(program), _cells(program, table, columns, records))
    name = program.spec.name
    return [
        Finding(mismatch.code, f"Program '{name}': {mismatch.message}") for mismatch in mismatches
    ]


def _cells(
    program: PlannedProgram, table: Table, columns: Mapping[str, Column], records: Structure
) -> Any:
    core = narrowed(program)
    held = core.record if core.persons is None else core.persons.rows
    wanted = {
        name or core.database: (program.fields[name], _WANTED.get(kind.kind, "text"))
        for name, kind in held
    }
    return read_columns(table, columns, wanted, None if core.persons is None else records)


class ProgramRun:
    """One run of a program on its rows, whose cost has been debited."""

    def __init__(self, program: PlannedProgram, rows: Rows) -> None:
        from bayesdp.programs.run import Machine, OpenDP

        self.program = program
        self.machine = Machine(narrowed(program), program.verdict, rows, OpenDP())

    def __repr__(self) -> str:
        return f"<a run of {self.program.shown}>"

    def so_far(self, failure: str) -> ProgramAnswer:
        """What was released until now, as an answer whose last output says what failed."""
        from bayesdp.programs.run.results.program_result import display_value

        released = {name: display_value(value) for name, value in self.machine.released.items()}
        return replace(
            self._answer((*released.values(), failure), released),
            types=(*("released",) * len(released), "failure"),
            failure=failure,
            labels=(*released, "failure") if released else ("",),
            noises=(*(self._noise(name, value) for name, value in released.items()), None),
        )

    def _noise(self, name: str, value: Any) -> Any:
        noise = self.machine.added.get(name)
        return (noise,) * len(value) if isinstance(value, tuple) else noise

    def done(self) -> ProgramAnswer:
        """The program's answer."""
        from bayesdp.programs.run.values.returned_noise import spreads

        machine = self.machine
        done = machine.run()
        outputs = [self._remarked(value) for value in done.outputs]
        releases = {name: self._remarked(value) for name, value in done.releases.items()}
        return replace(
            self._answer(outputs, releases),
            labels=output_labels(machine.program),
            cells=output_cells(machine.program),
            units=self.program.units,
            noises=spreads(machine.program, machine.values, machine.added),
        )

    def _remarked(self, value: Any) -> Any:
        """A posterior with the note on what it makes of dependent records."""
        if not is_distribution(value):
            return value
        of_chain = value.family == CHAIN_FAMILY
        remark = self.program.chain_remark if of_chain else self.program.remark
        return replace(value, notes=(*value.notes, *remark)) if remark else value

    def _answer(self, outputs: Sequence[Any], releases: Mapping[str, Any]) -> ProgramAnswer:
        program = self.program
        return ProgramAnswer(
            program.spec.name,
            program.shown,
            tuple(outputs),
            tuple(program.core.return_types),
            program.dp_epsilon,
            program.dp_rho,
            dict(releases),
        )


def run_program(run: ProgramRun) -> ProgramAnswer:
    """The program's answer; where it fails, what it released until then, and the failure."""
    try:
        answer = run.done()
        json.dumps(answer.to_dict(), allow_nan=False)  # else it could not be stored
        return answer
    except Exception as error:  # whatever it is: what was released has been paid for
        words = as_shown(error_words(error, quoted=run.machine.reads_released_only))[:400]
        failed = f"The rest of the program failed ({words})."
    return run.so_far(f"{failed} What it released until then has been paid for, and is kept.")
