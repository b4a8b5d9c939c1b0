"""Spends, what they add up to, and the ledger that keeps them.

`Ledger` is loaded on first use, because it brings SQLAlchemy along.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .spend import LevelFunction, Reading, Spend, total_cost

if TYPE_CHECKING:
    from .ledger import Ledger, Preview, ReleaseId

__all__ = ["Ledger", "LevelFunction", "Preview", "Reading", "ReleaseId", "Spend", "total_cost"]


def __getattr__(name: str) -> Any:
    if name in ("Ledger", "Preview", "ReleaseId"):
        from . import ledger

        return getattr(ledger, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
