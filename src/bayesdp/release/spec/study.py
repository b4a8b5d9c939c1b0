"""The study file as data: all its parts together.

The schema is stable; see docs/study-files.md. `parts` has the parts. The room `reading` reads
a file, and holds its parts against each other.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from bayesdp.populations import Population
from bayesdp.release.spec.derived import DerivedSpec
from bayesdp.release.spec.parts import BudgetSpec, DataSpec, QuerySpec, is_declared
from bayesdp.release.spec.program_files import ProgramFile
from bayesdp.tables.columns.column import Column

FROM_DATA = "from data"
MOST_RECORDS = 2**40


class StressSpec(BaseModel):
    """`[[stress]]`: another population, under which a stress test states the level too.

    It has the covered columns of the study's own population. Nothing that is released depends on
    it: not the price, not the certificate, not the ledger.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    name: str
    population: Population


class StudySpec(BaseModel):
    """A whole study. `population` is `None` only where the notion is `dp`.

    `programs` are the program files that its queries name, as they were read when it was loaded.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    data: DataSpec
    columns: dict[str, Column]
    population: Population | None
    budget: BudgetSpec
    queries: tuple[QuerySpec, ...]
    programs: dict[str, ProgramFile] = Field(default_factory=dict)
    stress: tuple[StressSpec, ...] = ()
    derived: tuple[DerivedSpec, ...] = ()

    def query_key(self, position: int) -> str:
        """The key of the `[[query]]` that declares the query at this position.

        A query of several quantiles is one of the file, and several here.
        """
        return f"query[{sum(map(is_declared, self.queries[: position + 1])) - 1}]"


def describe_column(column: Column) -> dict[str, Any]:
    """A column's declaration as plain data, as in a study file."""
    plain = column.model_dump(mode="json", by_alias=True, exclude_defaults=True, exclude_none=True)
    del plain["name"]
    return plain
