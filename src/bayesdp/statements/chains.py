"""Series: Markov chains of one law or between bounds, and autoregressive series."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from bayesdp.statements.base import Count, Number, PopulationStatement
from bayesdp.statements.tables import (
    OFF,
    closed_classes,
    require_law,
    require_probabilities,
    rows,
    square,
)

MOST_STATES = 200
STATIONARY = "stationary"

Order = Annotated[int, Field(ge=1, le=8)]


class Chain(PopulationStatement):
    """The keys that chains of one law and chains between bounds have in common."""

    model: Literal["markov"]
    order: Order = 1
    initial: Any = STATIONARY
    length: Count
    complete: bool = False

    def _check_initial(self, states: int) -> None:
        if isinstance(self.initial, str):
            if self.initial != STATIONARY:
                raise ValueError('the initial law is neither "stationary" nor a table')
            return
        if square(self.initial, self.order) != states:
            raise ValueError("the initial law has another number of states")
        require_law(self.initial)


class MarkovChain(Chain):
    """Chains of one law: `transition` has `order` + 1 axes, older records first."""

    transition: Any

    @model_validator(mode="after")
    def _consistent(self) -> MarkovChain:
        states = _states(self.transition, self.order)
        for row in rows(self.transition, self.order):
            require_law(row)
        self._check_initial(states)
        if self.initial == STATIONARY:
            _require_one_class(possible_moves(self.transition, self.order))
        return self


class MarkovIntervals(Chain):
    """Chains whose law lies between `transition_lower` and `transition_upper`, entry by entry."""

    transition_lower: Any
    transition_upper: Any

    @model_validator(mode="after")
    def _consistent(self) -> MarkovIntervals:
        states = _states(self.transition_lower, self.order)
        if _states(self.transition_upper, self.order) != states:
            raise ValueError("the bounds of the transitions have different shapes")
        bounds = (self.transition_lower, self.transition_upper)
        for low, high in zip(*(rows(table, self.order) for table in bounds), strict=True):
            require_probabilities(low)
            require_probabilities(high)
            if any(a > b for a, b in zip(low, high, strict=True)):
                raise ValueError("a lower bound is above its upper bound")
            if math.fsum(low) > 1.0 + OFF or math.fsum(high) < 1.0 - OFF:
                raise ValueError("no row between the bounds sums to 1")
        self._check_initial(states)
        if self.initial == STATIONARY:
            _require_one_class(widest_moves(*bounds, self.order))
        return self


def _states(table: object, order: int) -> int:
    states = square(table, order + 1)
    if not 2 <= states <= MOST_STATES:
        raise ValueError(f"a chain of {states} states: 2 to {MOST_STATES} are possible")
    return states


def possible_moves(transition: Any, order: int) -> list[list[int]]:
    """From each tuple of `order` records, the tuples that it may move to with the next record."""
    return _moves(
        [[new for new, weight in enumerate(row) if weight > 0] for row in rows(transition, order)],
        len(transition),
    )


def widest_moves(lower: Any, upper: Any, order: int) -> list[list[int]]:
    """As `possible_moves`, for a chain between `lower` and `upper`: moves of any row in between."""
    values = []
    for low, high in zip(rows(lower, order), rows(upper, order), strict=True):
        room = sum(map(Fraction, low)) < 1
        values.append([new for new, top in enumerate(high) if top > 0 and (room or low[new] > 0)])
    return _moves(values, len(lower))


def _moves(values: list[list[int]], states: int) -> list[list[int]]:
    count = len(values)
    return [[(here * states + new) % count for new in row] for here, row in enumerate(values)]


def _require_one_class(moves: list[list[int]]) -> None:
    """A start in "the stationary law" needs one that is unique, and 0 nowhere.

    Records that begin in a state that the law excludes, or that the chain has left by then, would
    leak more than records of that law.
    """
    classes = closed_classes(moves)
    if len(classes) > 1:
        raise ValueError(
            "the chain has several stationary laws, and none is stated as the initial one"
        )
    if len(classes[0]) < len(moves):
        raise ValueError(
            "the chain leaves some of its states for good, so that its stationary law is 0 there, "
            "and no initial law is stated"
        )


class Autoregressive(PopulationStatement):
    """Stationary Gaussian series; neighbours have the correlation `coefficient`."""

    model: Literal["autoregressive"]
    coefficient: Annotated[Number, Field(gt=-1.0, lt=1.0)]
    length: Count
