"""From a program's file to its verdict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from bayesdp.programs.check.verdict import Verdict, check
from bayesdp.programs.source.diagnostics import ProgramError

if TYPE_CHECKING:
    from bayesdp.programs.surface import ProgramSource


def verdict_on(
    program: ProgramSource, n: int | None = None, parameters: Mapping[str, object] | None = None
) -> Verdict:
    """The verdict on a program. What the front end refuses is REJECTED, with its place."""
    try:
        core = program.core(**(parameters or {}))
    except ProgramError as error:
        found = error.diagnostic
        return Verdict(
            "REJECTED",
            code=found.code,
            reason=found.message,
            accepted=found.accepted,
            where=found.where,
        )
    return check(core, n)
