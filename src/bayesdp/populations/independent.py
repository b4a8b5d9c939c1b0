"""Independent records: what is known about a record says nothing about the others."""

from __future__ import annotations

from typing import Literal

from bayesdp.populations.base import Population


class Independent(Population):
    """Mutually independent records, of any laws (theory 3.1)."""

    model: Literal["independent"] = "independent"

    @property
    def group_size(self) -> int:
        """Always 1."""
        return 1

    def describe(self) -> str:
        """One sentence in plain English."""
        return "all records are mutually independent"
