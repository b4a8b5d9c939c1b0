"""The study file: what it may say, as data.

The schema is stable; see docs/study-files.md. `reading` reads it, `consistency` holds its parts
against each other.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from bayesdp.notions import Adversary, Notion, Secrets
from bayesdp.populations import Population
from bayesdp.release.program_files import ProgramFile
from bayesdp.tables.columns import Column

QueryKind = Literal["count", "sum", "mean", "proportion", "histogram", "program"]
NoiseChoice = Literal["auto", "laplace", "gaussian"]
FROM_DATA = "from data"
MOST_RECORDS = 2**40


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, strict=True)


class DataSpec(_Part):
    """`[data]`: where the table is, under which name its budget is kept, what a record is."""

    source: str | None = None
    dataset: str = Field(min_length=1)
    n: int | Literal["from data"]
    unit: str = "row"
    rows_per_unit: int | None = Field(default=None, ge=1)


class BudgetSpec(_Part):
    """`[budget]`: the notion, its total for the data set, and what this study may spend of it.

    With a `delta` the total is an epsilon at this delta, and `noise` may be Gaussian.
    """

    notion: Notion = "bdp"
    epsilon: float = Field(gt=0, le=1e6)
    delta: float = Field(default=0.0, ge=0, lt=1)
    noise: NoiseChoice = "auto"
    adversary: Adversary = "any"
    secrets: Secrets = "bounded"
    ledger: str | None = None
    spend: float | None = Field(default=None, gt=0)


class QuerySpec(_Part):
    """`[[query]]`: one number, or one number for each declared group or cell; or a program.

    A program, as `"file.py:name"`, has public `parameters`, and `columns` of the table where its
    record's fields are named otherwise. Its cost is its own.
    """

    name: str = Field(min_length=1)
    kind: QueryKind
    column: str | None = None
    where: str | None = None
    by: str | None = None
    bins: tuple[float, ...] | None = Field(default=None, strict=False)
    weight: float | None = Field(default=None, gt=0)
    error: float | None = Field(default=None, gt=0)
    confidence: float = Field(default=0.95, gt=0.5, lt=1)
    tightness: Literal["dp", "mechanism"] = "dp"
    program: str | None = Field(default=None, min_length=1)
    parameters: dict[str, bool | int | float | str] = Field(default_factory=dict)
    columns: dict[str, str] = Field(default_factory=dict)


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


def describe_column(column: Column) -> dict[str, Any]:
    """A column's declaration as plain data, as in a study file."""
    plain = column.model_dump(mode="json", by_alias=True, exclude_defaults=True, exclude_none=True)
    del plain["name"]
    return plain
