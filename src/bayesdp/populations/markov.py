"""Markov chains: series in which, given the present state, past and future are independent."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from bayesdp.errors import InputError
from bayesdp.populations.base import MOST_RECORDS, Population, law


class MarkovChain(Population):
    """Series of `length` records, each a Markov chain over finitely many states.

    `transition[u][v]` is the probability that the next record is `v` when this one is `u`; rows sum
    to 1 within 1e-9 and are rescaled. `initial` is "stationary" or the law of the first record.
    Zeros are allowed. Several series, if a table has them, are mutually independent.
    """

    model: Literal["markov"] = "markov"
    transition: tuple[tuple[float, ...], ...]
    initial: Literal["stationary"] | tuple[float, ...] = "stationary"
    length: int = Field(ge=1, le=MOST_RECORDS)

    structure: ClassVar[str] = "series"

    @field_validator("transition")
    @classmethod
    def _stochastic(cls, rows: tuple[tuple[float, ...], ...]) -> tuple[tuple[float, ...], ...]:
        states = len(rows)
        if states < 2:
            raise InputError("population.transition", rows, expected="at least two states")
        for position, row in enumerate(rows):
            if len(row) != states:
                raise InputError(
                    f"population.transition[{position}]",
                    list(row),
                    expected=f"{states} probabilities, one for each state",
                )
        return tuple(law(row, f"population.transition[{i}]") for i, row in enumerate(rows))

    @model_validator(mode="after")
    def _start(self) -> MarkovChain:
        if self.initial == "stationary":
            if self.states == 2 and self.transition[0][1] + self.transition[1][0] == 0.0:
                raise InputError(
                    "population.initial",
                    "stationary",
                    expected="the law of the first record",
                    remedy="The states never change, so every law is stationary: state one.",
                )
            return self
        if len(self.initial) != self.states:
            raise InputError(
                "population.initial",
                list(self.initial),
                expected=f'"stationary" or {self.states} probabilities, one for each state',
            )
        object.__setattr__(self, "initial", law(self.initial, "population.initial"))
        return self

    @property
    def states(self) -> int:
        """The number of states."""
        return len(self.transition)

    @property
    def group_size(self) -> int:
        """`length`: the records of one series."""
        return self.length

    @property
    def start(self) -> tuple[float, ...]:
        """The law of the first record."""
        if self.initial != "stationary":
            return self.initial
        return stationary_law(self.transition)

    def describe(self) -> str:
        """One sentence in plain English."""
        begin = "in its stationary law" if self.initial == "stationary" else "in a given law"
        return (
            f"each series is a Markov chain of {self.states} states and at most {self.length} "
            f"records that starts {begin}; different series are mutually independent"
        )


def stationary_law(transition: tuple[tuple[float, ...], ...]) -> tuple[float, ...]:
    """The stationary law of a chain with a single recurrent class."""
    if len(transition) == 2:
        up, down = transition[0][1], transition[1][0]
        return (down / (up + down), up / (up + down))
    import numpy as np

    kernel = np.asarray(transition)
    size = len(kernel)
    system = np.vstack([kernel.T - np.eye(size), np.ones(size)])
    solution, _, rank, _ = np.linalg.lstsq(system, np.eye(size + 1)[-1], rcond=None)
    if rank < size:
        raise InputError(
            "population.initial",
            "stationary",
            expected="the law of the first record",
            remedy="The chain has several stationary laws: state which one it starts in.",
        )
    clipped = np.clip(solution, 0.0, None)
    return tuple(float(p) for p in clipped / math.fsum(clipped))
