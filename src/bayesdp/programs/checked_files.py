"""From a program's file to its verdict. An accepted one has asked the kernel.

The checker derives a cost by the kernel's rules; the kernel derives it again from what a
certificate would hold. If it doesn't, the verdict is UNKNOWN.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from bayesdp.errors import whole_number
from bayesdp.programs.check.checker import check
from bayesdp.programs.notes import notes_on
from bayesdp.programs.source import core_of
from bayesdp.programs.source.syntax.diagnostics import Diagnostic, ProgramError, place
from bayesdp.programs.verdict import ProgramVerdict, unconfirmed

if TYPE_CHECKING:
    from bayesdp.programs.ir import Program
    from bayesdp.programs.source.syntax.source_file import SourceFile


def verdict_on(
    read: Callable[[], SourceFile],
    name: str,
    n: int | None = None,
    parameters: Mapping[str, object] | None = None,
) -> ProgramVerdict:
    """The verdict on a program whose file is read by `read`.

    A program that the front end refuses is REJECTED, with its place. Raises `InputError` where
    there is no such file or program, or `n` is not a number of records.
    """
    n = _size(n)
    try:
        source = read()
    except ProgramError as error:
        return refused(error, name)
    return verdict_in(source, name, n, parameters)


def verdict_in(
    source: SourceFile,
    name: str | None = None,
    n: int | None = None,
    parameters: Mapping[str, object] | None = None,
    inflation: Fraction | None = None,
) -> ProgramVerdict:
    """The verdict on a program of a read file. Raises `InputError` as `verdict_on` does.

    `n` is the number of records, if it is known; `name`, `source`, `parameters` and `inflation` are
    as for `core_of`.
    """
    n = _size(n)
    try:
        core = core_of(source, name, parameters or {}, inflation)
    except ProgramError as error:
        return refused(error, name or next(iter(source.programs)))
    checked = replace(check(core, n), name=core.name, adjacency=core.adjacency)
    verdict = confirmed(core, checked)
    if verdict.verdict == "ACCEPTED":
        return replace(verdict, notes=(*verdict.notes, *notes_on(core)))
    where = verdict.where or place(source.programs[core.name])
    diagnostic = source.located(
        ProgramError(
            Diagnostic(verdict.code or "unproved", verdict.reason, verdict.accepted, where)
        )
    ).diagnostic
    return replace(verdict, where=diagnostic.where, shown=diagnostic.text())


def confirmed(program: Program, verdict: ProgramVerdict) -> ProgramVerdict:
    """The checker's verdict; UNKNOWN where the kernel does not confirm an ACCEPTED cost."""
    from bayesdp.kernel import InvalidError
    from bayesdp.programs.certificate import assumptions_of, derivation_of

    if verdict.verdict != "ACCEPTED":
        return verdict
    try:
        assumptions_of(derivation_of(program, verdict))
    except InvalidError as error:
        unknown = unconfirmed(error.step, error.reason)
        return replace(unknown, name=verdict.name, adjacency=verdict.adjacency)
    return verdict


def _size(n: int | None) -> int | None:
    return None if n is None else whole_number("n", n, expected="a number of records, at least 1")


def refused(error: ProgramError, name: str | None) -> ProgramVerdict:
    """The verdict on a program that the front end refuses."""
    diagnostic = error.diagnostic
    return ProgramVerdict(
        "REJECTED",
        code=diagnostic.code,
        reason=diagnostic.message,
        accepted=diagnostic.accepted,
        where=diagnostic.where,
        name=name or "",
        shown=diagnostic.text(),
    )
