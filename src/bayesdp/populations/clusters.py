"""Clusters of records: only their sizes are known, not how their records depend on each other."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from bayesdp.populations.base import MOST_RECORDS, Population


class Clusters(Population):
    """Disjoint, mutually independent clusters of at most `size` records (theory 3.2).

    Inside a cluster any dependence at all is allowed, up to identical records.
    """

    model: Literal["clusters"] = "clusters"
    size: int = Field(ge=1, le=MOST_RECORDS)

    positional: ClassVar[tuple[str, ...]] = ("size",)
    structure: ClassVar[str] = "cluster"

    @property
    def group_size(self) -> int:
        """`size`."""
        return self.size

    def describe(self) -> str:
        """One sentence in plain English."""
        return (
            f"records form mutually independent clusters of at most {self.size}, inside which "
            "any dependence is possible"
        )


class Unknown(Population):
    """Nothing is known: any of the `records` may depend on any other (theory 3.2).

    Useful accuracy is impossible then; bayesdp says so rather than pretend.
    """

    model: Literal["unknown"] = "unknown"
    records: int = Field(ge=1, le=MOST_RECORDS)

    positional: ClassVar[tuple[str, ...]] = ("records",)
    structure: ClassVar[str] = "all"

    @property
    def group_size(self) -> int:
        """`records`."""
        return self.records

    def describe(self) -> str:
        """One sentence in plain English."""
        return f"any of the {self.records} records may depend on any other, in any way"
