"""Running a program, from its verdict and its table to a stored result.

Everything that can be refused is refused first. Then follows the `Transaction` of every release:
debit, draw, store, show.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesdp.accounting.transaction import LedgerEntry, PartialResult, Transaction, refusals_noted
from bayesdp.errors import InputError, Refusal
from bayesdp.programs.ir import Program
from bayesdp.programs.number_text import suggested
from bayesdp.programs.run.draws.noise import OpenDP, Samplers
from bayesdp.programs.run.machine.machine import Machine
from bayesdp.programs.run.machine.readiness import prepared, ready
from bayesdp.programs.run.machine.spends import private_columns, spends_of, table_columns
from bayesdp.programs.run.results.program_result import ProgramResult, plain, require_finite
from bayesdp.programs.run.tables.loading import load
from bayesdp.programs.verdict import ProgramVerdict

if TYPE_CHECKING:
    from bayesdp.accounting import Ledger, Reading


def run(
    program: Program,
    verdict: ProgramVerdict | None,
    table: object,
    *,
    ledger: Ledger | str | Path | None = None,
    dataset: str | None = None,
    unit: str | None = None,
    dp_epsilon: float | None = None,
    dp_delta: float = 0.0,
    reading: Reading | None = None,
    people: str | None = None,
    base_dir: Path | str = ".",
    samplers: Samplers | None = None,
) -> ProgramResult:
    """Run a program once on a table, after its cost has been debited.

    The verdict must be ACCEPTED and confirmed by the kernel; without one the program is checked
    here. `ledger` is a `Ledger`, a path or `sqlite:///...`; `dataset` the name under which the
    budget is kept; `unit` what a record is called there: "row", or the column by which the program
    groups its rows. Either `reading`, or the total `dp_epsilon` (with `dp_delta` where Gaussian
    noise is to be read), is registered on the data set's first use and must match later. `people`
    names whom the data set shares with others, which then have one budget with it.

    Raises `Refusal` (program not accepted, budget exceeded, table not as declared) and `InputError`
    (wrong input; noise too large for its sampler) with nothing spent, and `FailedError` for what is
    known after the debit only, such as noise whose scale depends on a value that the program
    released before. What was released until then is kept in the ledger.
    """
    if program.dependence in ("missing", "chain"):
        raise InputError(
            "dependence",
            "declared",
            expected="a study, whose population says how records depend on each other",
            remedy='Run the program as a [[query]] of a study, or leave dependence="declared" out.',
        )
    unit = _unit(program, unit)
    verdict = _approved(program, verdict)
    prepared(program)
    budget_ledger, budget_reading = _budget(ledger, dataset, dp_epsilon, dp_delta, reading)
    assert dataset is not None
    with refusals_noted(budget_ledger, dataset, program.name):
        rows = load(program, table, base_dir, dataset)
    ready(program, verdict, rows)
    n = rows.size if program.adjacency == "replace-one" else None
    spends = spends_of(verdict, program, dataset=dataset, unit=unit, n=n)
    spends = [replace(spend, people=people) for spend in spends]
    drawing = _ProgramRun(Machine(program, verdict, rows, samplers or OpenDP()))
    if not spends:  # nothing private is read, so nothing is paid or kept
        result, _ = drawing.draw(None)
        return result
    private, public = _columns_read(program)
    entry = LedgerEntry(
        dataset,
        unit,
        budget_reading,
        spends,
        study=program.name,
        request={"program": program.name, "source": program.source_hash},
        private=private,
        public=public,
        people=people,
    )
    return Transaction(budget_ledger, entry, drawing).run()


def _columns_read(program: Program) -> tuple[list[str], list[str]]:
    """The columns that the ledger keeps as private, and those that it keeps as public.

    Where neighbours differ by a record that leaves, nothing is public: not even which rows there
    are. A record of single values is one column, named as the database.
    """
    columns = program.record if program.persons is None else program.persons.rows
    column_names = {name: name or program.database for name, _ in columns}
    private = table_columns(program, private_columns(program))
    public = (
        [name for name, kind in columns if kind.public and name not in private]
        if program.adjacency == "replace-one"
        else []
    )
    return [column_names[name] for name in sorted(private)], [column_names[name] for name in public]


def _unit(program: Program, unit: str | None) -> str:
    """What the ledger calls a record of the program."""
    program_unit = "row" if program.persons is None else program.persons.by
    if unit is not None and program.persons is not None and unit != program_unit:
        raise InputError(
            "unit",
            unit,
            expected=f"'{program_unit}', by which the program groups its rows",
            remedy="Leave it out.",
        )
    return unit or program_unit


class _ProgramRun:
    """What a program draws after its debit: one run of the machine."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    @property
    def paid(self) -> str:
        """The cost in words."""
        verdict = self._machine.verdict
        cost = f"epsilon {suggested(verdict.dp_epsilon)}"
        return f"{cost}, delta {suggested(verdict.dp_delta)}" if verdict.dp_delta else cost

    @property
    def reads_released_only(self) -> bool:
        """Whether the command that runs now reads released values only."""
        return self._machine.reads_released_only

    def draw(self, release: str | None) -> tuple[ProgramResult, dict[str, Any]]:
        """The program's result."""
        result = self._machine.run()
        document = result.to_dict()
        require_finite(document)  # else it could not be stored
        return replace(result, release_id=release), document

    def so_far(self, release: str) -> PartialResult:
        """What the program has released until now."""
        del release
        released = self._machine.released
        return PartialResult(
            list(released), {"releases": {name: plain(value) for name, value in released.items()}}
        )


def _approved(program: Program, verdict: ProgramVerdict | None) -> ProgramVerdict:
    """The verdict, derived again here and confirmed by the kernel.

    A verdict that was handed over may belong to another program.
    """
    from bayesdp.programs.check.checker import check
    from bayesdp.programs.checked_files import confirmed

    derived = confirmed(program, check(program, None if verdict is None else verdict.n))
    if derived.verdict != "ACCEPTED":
        raise Refusal(
            f"{program.name} is {derived.verdict}: {derived.reason} Nothing was released or spent."
        )
    if verdict is not None and (
        verdict.verdict != "ACCEPTED" or verdict.derivation != derived.derivation
    ):
        raise InputError(
            "verdict",
            verdict.verdict,
            expected="the verdict on this program, ACCEPTED",
            remedy="Leave it out: the program is then checked here.",
        )
    return derived


def _budget(
    ledger: Ledger | str | Path | None,
    dataset: str | None,
    dp_epsilon: float | None,
    dp_delta: float,
    reading: Reading | None,
) -> tuple[Ledger, Reading]:
    from bayesdp.accounting import Ledger, Reading
    from bayesdp.accounting.costs.composition import level

    if ledger is None or not dataset:
        raise InputError(
            "ledger" if ledger is None else "dataset",
            None,
            expected="where the budget is kept, and the data set's name in it",
            remedy='ledger="sqlite:///ledger.db", dataset="heights-2026", dp_epsilon=1.0',
        )
    if (reading is None) == (dp_epsilon is None):
        raise InputError(
            "dp_epsilon",
            dp_epsilon,
            expected="either dp_epsilon, the data set's total, or reading",
            remedy="Give one of the two.",
        )
    if reading is None:
        assert dp_epsilon is not None
        reading = Reading("dp", dp_epsilon, delta=dp_delta)
    if isinstance(ledger, Ledger):
        return ledger, reading
    return Ledger(str(ledger), level=level), reading
