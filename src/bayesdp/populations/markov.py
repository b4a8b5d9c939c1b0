"""Markov chains: series in which, given the last k records, past and future are independent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from bayesdp.errors import InputError
from bayesdp.populations.base import MOST_RECORDS, Population, Rescaling
from bayesdp.statements.chains import possible_moves, widest_moves
from bayesdp.statements.tables import closed_classes

TransitionRow = tuple[float, ...]
MOST_STATES = 200
_BETWEEN = "whose transitions, the same at every step, lie in given intervals"


class MarkovChain(Population):
    """Series of `length` records, each a Markov chain of order `order` over finitely many states.

    `transition[u][v]` is the probability that the next record is `v` when this one is `u`; for
    order k it is a table with k + 1 axes, older records first. Rows sum to 1 up to rounding and
    are rescaled. Instead of one table, `transition_lower` and `transition_upper` bound it entry by
    entry; each series has one table between them, the same at every step. `initial` is "stationary"
    or the law of the first record (of the first k records, with k axes); it must be given where the
    chain has several stationary laws, or one that is 0 for some state, or run of k states. Zeros
    are allowed. Several series, if a table has them, are mutually independent.
    `complete` says more: there is one series, of exactly `length` records without a gap (what a
    count leaks depends on it, theory 3.9 b; what the DP level means doesn't).
    """

    model: Literal["markov"] = "markov"
    transition: Any = None
    transition_lower: Any = None
    transition_upper: Any = None
    order: int = Field(default=1, ge=1, le=8)
    initial: Any = "stationary"
    length: int = Field(ge=1, le=MOST_RECORDS)
    complete: bool = False

    positional: ClassVar[tuple[str, ...]] = ("transition",)
    structure: ClassVar[str] = "series"

    @field_validator("transition", "transition_lower", "transition_upper", "initial", mode="before")
    @classmethod
    def _plain(cls, value: object) -> object:
        tolist = getattr(value, "tolist", None)
        return _tuples(tolist() if tolist is not None else value)

    @model_validator(mode="after")
    def _consistent(self) -> MarkovChain:
        rescaling = Rescaling()
        if self.transition is not None:
            if self.transition_lower is not None or self.transition_upper is not None:
                raise InputError(
                    "population.transition",
                    expected="either transition, or transition_lower with transition_upper",
                    shown=False,
                )
            states = _states(self.transition, self.order, "population.transition")
            rows = _map_rows(self.transition, self.order, "population.transition", rescaling.law)
            object.__setattr__(self, "transition", rows)
        else:
            states = self._check_intervals()
        self._check_initial(states, rescaling)
        object.__setattr__(self, "source", rescaling.noted(self.source))
        return self

    def _check_intervals(self) -> int:
        low, high = self.transition_lower, self.transition_upper
        if low is None or high is None:
            raise InputError(
                "population.transition",
                expected="a transition matrix, or transition_lower together with transition_upper",
                shown=False,
            )
        states = _states(low, self.order, "population.transition_lower")
        if _states(high, self.order, "population.transition_upper") != states:
            raise InputError(
                "population.transition_upper", high, expected="the shape of transition_lower"
            )
        lows = _map_rows(low, self.order, "population.transition_lower", _probabilities)
        highs = _map_rows(high, self.order, "population.transition_upper", _probabilities)
        for place in product(range(states), repeat=self.order):
            first, second = _row(lows, place), _row(highs, place)
            where = "".join(f"[{i}]" for i in place)
            if any(a > b for a, b in zip(first, second, strict=True)):
                raise InputError(
                    f"population.transition_lower{where}",
                    list(first),
                    expected=f"entries of at most {list(second)}, the upper bounds",
                    remedy="Lower them, or raise the upper bounds.",
                )
            if math.fsum(first) > 1.0 + 1e-9 or math.fsum(second) < 1.0 - 1e-9:
                raise InputError(
                    f"population.transition_lower{where}",
                    list(first),
                    expected="bounds between which some row sums to 1",
                )
        object.__setattr__(self, "transition_lower", lows)
        object.__setattr__(self, "transition_upper", highs)
        return states

    def _check_initial(self, states: int, rescaling: Rescaling) -> None:
        if self.initial == "stationary":
            self._check_stationary(states)
            return
        flat = _flat(self.initial, self.order, states)
        if flat is None:
            shape = " x ".join([str(states)] * self.order)
            raise InputError(
                "population.initial",
                self.initial,
                expected=f'"stationary" or {shape} probabilities',
            )
        rescaled = rescaling.law(flat, "population.initial")
        object.__setattr__(self, "initial", _unflat(rescaled, self.order, states))

    def _check_stationary(self, states: int) -> None:
        """The default start: refused unless there is one stationary law, positive everywhere."""
        if self.transition is not None:
            moves = possible_moves(self.transition, self.order)
        else:
            moves = widest_moves(self.transition_lower, self.transition_upper, self.order)
        classes = closed_classes(moves)
        if len(classes) == 1 and len(classes[0]) == len(moves):
            return
        if len(classes) > 1:
            remedy = "The chain has several stationary laws: state which one it starts in."
        else:
            place = min(set(range(len(moves))) - set(classes[0]))
            left = [place // states**i % states for i in reversed(range(self.order))]
            remedy = (
                f"{_tuple_words(left)} left for good, and has probability 0 in the stationary law: "
                "state how series begin, with a positive probability wherever one may."
            )
        raise InputError(
            "population.initial",
            "stationary",
            expected="the law of the first record"
            if self.order == 1
            else f"the law of the first {self.order} records",
            remedy=remedy,
        )

    @property
    def states(self) -> int:
        """The number of states."""
        return len(self.transition if self.transition is not None else self.transition_lower)

    @property
    def group_size(self) -> int:
        """`length`: the records of one series."""
        return self.length

    @property
    def start(self) -> TransitionRow:
        """The law of the first record, for a chain of order 1 with one transition matrix.

        Raises `InputError` where it is "stationary" and the chain has several stationary laws.
        """
        if self.initial != "stationary":
            first: TransitionRow = self.initial
            return first
        return stationary_law(self.transition)

    def describe(self) -> str:
        """One sentence in plain English."""
        begin = "in its stationary law" if self.initial == "stationary" else "in a given law"
        order = "" if self.order == 1 else f" of order {self.order}"
        known = "" if self.transition is not None else f" {_BETWEEN}"
        if self.complete:
            return (
                f"the records are a Markov chain{order}{known} of {self.states} states and exactly "
                f"{self.length} records without a gap that starts {begin}"
            )
        return (
            f"each series is a Markov chain{order}{known} of {self.states} states and at most "
            f"{self.length} records that starts {begin}; different series are mutually independent"
        )


def stationary_law(transition: tuple[TransitionRow, ...]) -> TransitionRow:
    """The stationary law of a chain of order 1, whose rows sum to 1.

    Raises `InputError` where there are several, since the chain has several recurrent classes.
    """
    if len(transition) == 2:
        up, down = transition[0][1], transition[1][0]
        return (down / (up + down), up / (up + down))
    law = eliminated(transition)
    if law is None:
        raise InputError(
            "population.initial",
            "stationary",
            expected="the law of the first record",
            remedy="The chain has several stationary laws: state which one it starts in.",
        )
    return law


def eliminated(transition: Sequence[Sequence[float]]) -> TransitionRow | None:
    """The stationary law, by eliminating state after state; `None` where there are several laws.

    Grassmann, Taksar & Heyman (1985): nothing is subtracted, so small probabilities are as
    accurate as large ones. States that are left for good have probability 0, and only they.
    """
    import numpy as np

    kernel = np.asarray(transition, dtype=float)
    recurrent = _recurrent(kernel > 0.0)
    if recurrent is None:
        return None
    work = kernel[np.ix_(recurrent, recurrent)]
    size = len(work)
    for last in range(size - 1, 0, -1):
        work[:last, last] /= work[last, :last].sum()
        work[:last, :last] += np.outer(work[:last, last], work[last, :last])
    weights = np.zeros(size)
    weights[0] = 1.0
    for state in range(1, size):
        weights[state] = weights[:state] @ work[:state, state]
    law = np.zeros(len(kernel))
    law[recurrent] = weights / weights.sum()
    return tuple(law.tolist())


def _recurrent(moves: Any) -> list[int] | None:
    """The states of the closed class; `None` where there are several closed classes."""
    import numpy as np

    size = len(moves)
    reach = moves | np.eye(size, dtype=bool)
    for _ in range(size.bit_length()):
        reach = (reach.astype(float) @ reach.astype(float)) > 0.0
    closed = [u for u in range(size) if (reach[:, u] | ~reach[u]).all()]
    return closed if all(reach[closed[0], u] for u in closed) else None


def _tuple_words(values: list[int]) -> str:
    """A state, or a run of states, at the beginning of a sentence."""
    if len(values) == 1:
        return f"State {values[0]} is"
    return f"The run of states {', '.join(map(str, values))} is"


# -- nested tables as nested tuples ---------------------------------------------------------------


def _tuples(value: object) -> object:
    if isinstance(value, list | tuple):
        return tuple(_tuples(part) for part in value)
    return value


def _states(table: object, order: int, key: str) -> int:
    if not isinstance(table, tuple) or len(table) < 2:
        raise InputError(key, table, expected="a table of at least two states")
    if len(table) > MOST_STATES:
        raise InputError(
            key,
            f"{len(table)} states",
            expected=f"at most {MOST_STATES} states",
            remedy="Merge states.",
        )
    return len(table)


def _map_rows(table: Any, depth: int, key: str, check: Any) -> Any:
    """Apply `check` to every row (innermost tuple) of a table with `depth + 1` axes."""
    states = len(table)

    def visit(part: object, remaining: int, where: str) -> object:
        if not isinstance(part, tuple) or len(part) != states:
            raise InputError(
                where,
                part,
                expected=f"{states} {'probabilities' if remaining == 0 else 'tables'}, one for "
                f"each state (order {depth})",
            )
        if remaining == 0:
            for position, entry in enumerate(part):
                if isinstance(entry, bool) or not isinstance(entry, int | float):
                    raise InputError(f"{where}[{position}]", entry, expected="a probability")
            return check(tuple(float(entry) for entry in part), where)
        return tuple(visit(inner, remaining - 1, f"{where}[{i}]") for i, inner in enumerate(part))

    return visit(table, depth, key)


def _probabilities(row: TransitionRow, key: str) -> TransitionRow:
    for position, value in enumerate(row):
        if not 0.0 <= value <= 1.0:
            raise InputError(f"{key}[{position}]", value, expected="a probability in [0, 1]")
    return row


def _row(table: Any, place: tuple[int, ...]) -> TransitionRow:
    for index in place:
        table = table[index]
    row: TransitionRow = table
    return row


def _flat(value: object, depth: int, states: int) -> TransitionRow | None:
    if not isinstance(value, tuple) or len(value) != states:
        return None
    if depth == 1:
        numbers = [v for v in value if isinstance(v, int | float) and not isinstance(v, bool)]
        return tuple(float(v) for v in numbers) if len(numbers) == states else None
    parts = [_flat(inner, depth - 1, states) for inner in value]
    if any(part is None for part in parts):
        return None
    return tuple(entry for part in parts if part is not None for entry in part)


def _unflat(row: TransitionRow, depth: int, states: int) -> Any:
    if depth == 1:
        return row
    width = len(row) // states
    return tuple(
        _unflat(row[i * width : (i + 1) * width], depth - 1, states) for i in range(states)
    )
