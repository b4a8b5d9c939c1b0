"""What is said of a ledger that is damaged, wherever it is kept."""

from __future__ import annotations

from bayesdp.errors import LedgerError


def damaged(place: str, problem: str) -> LedgerError:
    """The error for content at this `place` that no ledger writes, and what its `problem` is."""
    return LedgerError(
        "ledger",
        place,
        expected=f"an intact ledger; this one is damaged ({' '.join(problem.split())})",
        remedy="Restore it from a copy, and count what was released since the copy as spent.",
    )
