"""The whole way of a program: verdict, table, debit, one run, storage.

The order is a release's: everything that can be refused is refused, the cost is debited durably,
then noise is drawn, and the result is stored before it is shown. A crash after the debit loses
budget, never privacy.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesdp.errors import FailedError, InputError, Refusal, TableMismatchError
from bayesdp.programs.check.verdict import Verdict
from bayesdp.programs.ir import Program
from bayesdp.programs.run.machine import Machine
from bayesdp.programs.run.noise import OpenDP, Samplers
from bayesdp.programs.run.readiness import prepared, ready
from bayesdp.programs.run.result import ProgramResult, plain, require_finite
from bayesdp.programs.run.spends import private_columns, spends_of
from bayesdp.programs.run.table import load
from bayesdp.programs.words import suggested

if TYPE_CHECKING:
    from bayesdp.accounting import Ledger, Reading


def run(
    program: Program,
    verdict: Verdict | None,
    table: object,
    *,
    ledger: Ledger | str | Path | None = None,
    dataset: str | None = None,
    unit: str = "row",
    dp_epsilon: float | None = None,
    dp_delta: float = 0.0,
    reading: Reading | None = None,
    base_dir: Path | str = ".",
    samplers: Samplers | None = None,
) -> ProgramResult:
    """Run a program once on a table, after its cost has been debited.

    The verdict must be ACCEPTED and confirmed by the kernel; without one the program is checked
    here. `ledger` is a `Ledger`, a path or `sqlite:///...`; `dataset` the name under which the
    budget is kept. Either `reading`, or the total `dp_epsilon` (with `dp_delta` where Gaussian
    noise is to be read), is registered on the data set's first use and must match later.

    Raises `Refusal` (program not accepted, budget exceeded, table not as declared) and `InputError`
    (wrong input; noise too large for its sampler) with nothing spent, and `FailedError` for what is
    known after the debit only, such as noise whose scale depends on a value that the program
    released before. What was released until then is kept in the ledger.
    """
    verdict = _approved(program, verdict)
    prepared(program)
    book, meaning = _budget(ledger, dataset, dp_epsilon, dp_delta, reading)
    assert dataset is not None
    try:
        rows = load(program, table, base_dir)
    except TableMismatchError:
        # One bit about the data, free of charge: it must leave a trace.
        book.refused(dataset, program.name)
        raise
    ready(program, verdict, rows)
    n = rows.size if program.adjacency == "replace-one" else None
    spends = spends_of(verdict, program, dataset=dataset, unit=unit, n=n)
    machine = Machine(program, verdict, rows, samplers or OpenDP())
    release = None
    if spends:
        private = private_columns(program)
        named = {name: name or program.database for name, _ in program.record}
        book.ensure(
            dataset,
            unit,
            meaning,
            private=[named[one] for one in sorted(private)],
            public=[named[name] for name, kind in program.record if kind.public]
            if program.adjacency == "replace-one"
            else [],
        )
        request = {"program": program.name, "source": program.source_hash}
        release = book.debit(dataset, unit, spends, study=program.name, request=request)
    stored: dict[str, Any] | None = None
    try:
        found = machine.run()
        told = found.to_dict()
        require_finite(told)  # else it could not be stored
        stored = told
    except Exception as error:
        # Whatever it is: those who read the error must learn that it has been paid for.
        if release is None:
            raise
        raise _failed(machine, release, error) from (error if machine.after else None)
    finally:
        if release is not None:
            # What was released before a failure is kept: it has been paid for.
            kept = stored or {"releases": {k: plain(one) for k, one in machine.released.items()}}
            book.store(release, kept)
    return _numbered(found, release)


def _failed(machine: Machine, release: str, error: Exception) -> FailedError:
    """What became of a run that has been paid for.

    An error's own words are told only of what is computed from released values: others may quote
    private ones.
    """
    told = f"{type(error).__name__}: {error}"[:400] if machine.after else type(error).__name__
    verdict, kept = machine.verdict, ", ".join(machine.released)
    cost = f"epsilon {suggested(verdict.dp_epsilon)}"
    if verdict.dp_delta:
        cost += f", delta {suggested(verdict.dp_delta)}"
    return FailedError(
        f"{machine.program.name} failed after its cost had been debited ({told}). Paid: {cost}. "
        + (
            f"What it released until then is kept in the ledger as release {release}: {kept}."
            if kept
            else f"Nothing had been released until then (release {release} in the ledger)."
        )
    )


def _approved(program: Program, verdict: Verdict | None) -> Verdict:
    """The verdict, derived again here and confirmed by the kernel.

    One that was handed over may belong to another program.
    """
    from bayesdp.programs.check.verdict import check
    from bayesdp.programs.verdicts import confirmed

    found = check(program, None if verdict is None else verdict.n)
    if found.verdict == "ACCEPTED":
        found = confirmed(program, found)
    if found.verdict != "ACCEPTED":
        raise Refusal(
            f"{program.name} is {found.verdict}: {found.reason} Nothing was released or spent."
        )
    if verdict is not None and (
        verdict.verdict != "ACCEPTED" or verdict.derivation != found.derivation
    ):
        raise InputError(
            "verdict", verdict.verdict, expected="the verdict on this program, ACCEPTED"
        )
    return found


def _budget(
    ledger: Ledger | str | Path | None,
    dataset: str | None,
    dp_epsilon: float | None,
    dp_delta: float,
    reading: Reading | None,
) -> tuple[Ledger, Reading]:
    from bayesdp.accounting import Ledger, Reading
    from bayesdp.accounting.composition import level

    if ledger is None or not dataset:
        raise InputError(
            "ledger" if ledger is None else "dataset",
            None,
            expected="where the budget is kept, and the data set's name in it",
            remedy='ledger="sqlite:///ledger.db", dataset="heights-2026", dp_epsilon=1.0',
        )
    if (reading is None) == (dp_epsilon is None):
        raise InputError(
            "dp_epsilon", dp_epsilon, expected="either dp_epsilon, the data set's total, or reading"
        )
    if reading is None:
        assert dp_epsilon is not None
        reading = Reading("dp", dp_epsilon, delta=dp_delta)
    if isinstance(ledger, Ledger):
        return ledger, reading
    return Ledger(str(ledger), level=level), reading


def _numbered(found: ProgramResult, release: str | None) -> ProgramResult:
    from dataclasses import replace

    return replace(found, releases=dict(found.releases), release_id=release)
