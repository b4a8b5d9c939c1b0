"""Spends as certificates state them: what one release has cost, as a ledger keeps it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from bayesdp.statements.base import Line, Name, Names, Number, Sequence, Statement, visible
from bayesdp.statements.columns import DEFINED_AS, Value, kind_of

LAPLACE, GAUSSIAN, PROGRAM = "discrete-laplace", "discrete-gaussian", "program"
"""The mechanisms of this package, which put sums on a grid: their Lipschitz spends have slack."""

PERMUTE_AND_FLIP, EXPONENTIAL = "permute-and-flip", "exponential-mechanism"
"""The mechanisms that choose a quantile, with a pure cost and with one in zCDP."""

THRESHOLDED = "thresholded-laplace"
"""Counts of groups that are found in the data, of which those above a threshold are shown."""

ZCDP = (GAUSSIAN, EXPONENTIAL)
"""The mechanisms whose cost is in zCDP."""

PURE = (LAPLACE, PERMUTE_AND_FLIP, THRESHOLDED)
"""The mechanisms whose cost is pure, but for a delta."""

COLLECTED = "randomized response at collection"
"""The mechanism that perturbed every answer of a column before anybody saw it.

The answers are drawn once: spends of the same column at the same cost are one cost.
"""


_PART = f"part of a row{DEFINED_AS}"
"""How the protected unit begins where a record is a part of a row: no column has such a name."""


def protected_unit(unit: str, position: str | None) -> str:
    """The protected unit of spends: a study's `unit`, "row" or a column.

    Where each row of the table holds several records, which the column `position` tells apart, a
    part of a row is another unit than the row: costs of the two don't add up.
    """
    return f"{_PART}{position}" if unit == "row" and position is not None else unit


def is_one_row(unit: str) -> bool:
    """Whether a record of this protected unit is one row of the table that queries read."""
    return unit == "row" or unit.startswith(_PART)


def _each_once(values: tuple[Value, ...]) -> tuple[Value, ...]:
    if len({(kind_of(value), value) for value in values}) < len(values):
        raise ValueError("a value stands there twice")
    for value in values:
        if isinstance(value, str):
            visible(value)
    return values


class Block(Statement):
    """The records that a release read: those with these values of a public column."""

    column: Name
    values: Annotated[tuple[Value, ...], Sequence, Field(min_length=1), AfterValidator(_each_once)]


class Spend(Statement):
    """A cost, pure (`dp_epsilon`, in nats) or of Gaussian noise (`rho`), and what it was spent on.

    `lipschitz` mechanisms read one column, clipped to `interval`; `slack` is what their grid adds.
    With a `dp_delta` the mechanism is (dp_epsilon, dp_delta)-DP, and nothing more is known of it.
    `people` are those whom the data set shares with others, if it does.
    """

    dataset: Name
    unit: Name
    query: Name
    kind: Literal["any", "lipschitz"]
    dp_epsilon: Annotated[Number, Field(ge=0)]
    column: Name | None
    interval: Annotated[tuple[Number, Number], Sequence] | None
    slack: Annotated[Number, Field(ge=0)]
    mechanism: Line
    dp_delta: Annotated[Number, Field(ge=0, lt=1)]
    reads: Names
    rho: Annotated[Number, Field(ge=0)] = 0.0
    block: Block | None = None
    people: Name | None = None

    @model_validator(mode="after")
    def _goes_together(self) -> Spend:
        if (self.dp_epsilon > 0) == (self.rho > 0):
            raise ValueError("not exactly one cost, pure or of Gaussian noise")
        # Others may have mechanisms that choose with a cost of either kind; steps know their own.
        if self.mechanism in (LAPLACE, GAUSSIAN) and (self.mechanism == GAUSSIAN) != (self.rho > 0):
            raise ValueError("a cost of another kind than its noise has")
        if self.dp_delta > 0 and (
            self.rho > 0 or self.kind != "any" or self.mechanism == COLLECTED
        ):
            raise ValueError("a delta beside other costs than a pure one of any mechanism")
        if list(self.reads) != sorted(self.reads):
            raise ValueError("columns that it reads, out of alphabetical order")
        if self.block is not None and not is_one_row(self.unit):
            raise ValueError("a record of several rows has no block")
        if self.mechanism == COLLECTED and (
            self.kind != "any"
            or self.column is None
            or self.reads != (self.column,)
            or self.rho > 0
            or self.block is not None
        ):
            raise ValueError("perturbed answers are those of one column, of all records")
        if self.kind == "any":
            if self.interval is not None or self.slack > 0:
                raise ValueError("an interval or slack, which belong to the kind lipschitz")
            return self
        if self.interval is None or not self.interval[0] < self.interval[1]:
            raise ValueError("a Lipschitz spend without the interval that it clips to")
        if self.reads != (self.column,):
            raise ValueError("a Lipschitz spend that reads other columns than its own")
        if self.mechanism in (PERMUTE_AND_FLIP, EXPONENTIAL, THRESHOLDED):
            raise ValueError("a Lipschitz spend of a mechanism that chooses")
        known = (LAPLACE, GAUSSIAN, PROGRAM)
        if self.mechanism.startswith(known) and (self.mechanism not in known or self.slack == 0):
            raise ValueError("a Lipschitz spend of a mechanism that has no such cost")
        return self
