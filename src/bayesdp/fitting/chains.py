"""Markov chains from public or past data, with bounds that hold the transitions.

What is fitted, and why the bounds hold, is said in `regions`; how windows are counted in
`counting`; what speaks for or against the chain in `comparing`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from bayesdp.accounting.costs.rounded import up_words
from bayesdp.errors import InputError, UnsupportedError, whole_number
from bayesdp.fitting.comparing import (
    HIGHEST_ORDER,
    LEAST_TRANSITIONS,
    FitCheck,
    check_gaps,
    check_halves,
    check_order,
    check_series,
    estimates,
    information,
)
from bayesdp.fitting.counting import MOST_CELLS, Chains, GroupedWindows, Part, WindowCounts
from bayesdp.fitting.numbers_of import (
    Numbers,
    check_confidence,
    confidence_words,
    public_data,
    require_column,
    time_column,
)
from bayesdp.fitting.regions import Counts, TransitionBounds, transition_bounds
from bayesdp.fitting.states import read_states
from bayesdp.notions import Cost
from bayesdp.populations import MarkovChain
from bayesdp.populations.base import NO_ALLOWANCE
from bayesdp.statements.columns import Value
from bayesdp.tables.columns.column import Column
from bayesdp.tables.source import open_table
from bayesdp.theorems import Question, best_bound

ORDERS = tuple(range(1, HIGHEST_ORDER + 1))
"""The orders that can be fitted."""

MOST_SERIES = 1000
"""More series are not compared with each other one by one."""

MOST_GROUPS = 100_000
"""Windows of more kinds are counted alone: halves and series get a query of their own."""


@dataclass(frozen=True, eq=False)
class ChainFit:
    """A fitted chain: the population, the counts behind it, and what speaks for or against it.

    `states` are the values of the states 0, 1, ... `counts[u, ..., v]`, with `order + 1` axes, says
    how often `v` followed `u, ...`, older records first; `transition` are the most likely
    transitions (NaN where a context never occurred), `bounds` hold the true ones (`None` for a
    point). `records` have a state and lie in `runs` runs of neighbours, `missing` rows have none.
    """

    population: MarkovChain
    states: tuple[Value, ...]
    counts: Counts
    transition: Numbers
    bounds: TransitionBounds | None
    records: int
    runs: int
    missing: int
    diagnostics: tuple[FitCheck, ...]

    @property
    def order(self) -> int:
        """The order of the chain."""
        return self.counts.ndim - 1

    @property
    def transitions(self) -> int:
        """How many transitions were counted."""
        return int(self.counts.sum())

    def estimated(self) -> dict[str, Any]:
        """The states, the most likely transitions and the counts as plain data.

        A context that never occurred has `None` in place of each probability.
        """
        likely = self.transition.astype(object)
        likely[np.isnan(self.transition)] = None
        return {
            "states": list(self.states),
            "transition": likely.tolist(),
            "counts": self.counts.tolist(),
        }


def fit_chain(
    table: object,
    column: str,
    *,
    states: Sequence[Value] | None = None,
    cuts: Sequence[float] | None = None,
    where: str | None = None,
    order: int | Literal["auto"] = 1,
    series: str | Sequence[str] = (),
    time: str | None = None,
    step: float | str | None = None,
    time_format: str | None = None,
    gaps: Literal["break", "bridge"] = "break",
    missing: Literal["break", "drop"] = "break",
    confidence: float | None = 0.95,
    length: int,
) -> ChainFit:
    """Fit a Markov chain to the states of `column`, with bounds on all its transitions.

    `table` is what a study can name as its source, of public or past data: nothing is spent and
    nothing is protected. The states are declared as in a study, in one of three ways: `states`
    lists the values, `cuts` cuts numbers into intervals, and `where` is a condition on the column
    (states 0 and 1). `order` is 1, 2, 3, or "auto": the one with the least BIC.

    `series` names the columns that tell series apart. With `time` (and the `step` between two
    records: a number, or a text such as "1 day") two rows are neighbours if their times are one
    step apart, and `gaps="bridge"` makes all rows neighbours that follow each other in a series: a
    gap of several steps then counts as one. `time_format` is how dates are written, as in a study:
    `%d.%m.%Y`. Times off the step are refused. Without, neighbours are
    rows that follow each other in the file. A cell that is `missing` ends a run; "drop" leaves its
    row out as if it were not there. `length` is the most records that a series of the study may
    have, whatever the table has.

    `population` has the bounds that hold all transitions at once with this `confidence` (theory
    3.12); `None` gives the most likely transitions, without an allowance for chance. Raises
    `InputError` for arguments and cells that can't be read, and `UnsupportedError` where no
    transition is seen, or the most likely ones are not a population.
    """
    _check_arguments(order, gaps, missing, confidence)
    if time is None:
        _need_time(step=step, time_format=time_format, gaps=None if gaps == "break" else gaps)
    length = most_records(length)
    with public_data():
        chains = _chains(
            table,
            column,
            {"states": states, "cuts": cuts, "where": where},
            (series,) if isinstance(series, str) else tuple(series),
            None if time is None else time_column(time, step, time_format),
            bridge=gaps == "bridge",
            drop=missing == "drop",
        )
        depth = _depth(len(chains.states.levels), order)
        grouped = chains.windows(depth, _parts_beside(chains, depth))
        windows = grouped.whole
        fitted, choice = (order, ()) if order != "auto" else _least_information(windows)
        counts = _counts(windows, fitted)
        bridged = _bridged(chains, grouped, counts)
        price = partial(_price_of_order, windows, fitted, confidence, length)
        about_order = check_order(windows, fitted, price)
        checks = (*choice, about_order, *bridged, *_homogeneity(chains, grouped, counts))
    bounds = None if confidence is None else transition_bounds(counts, confidence)
    population = _population(
        counts, bounds, length, _source(windows, counts, confidence, choice, bridged)
    )
    return ChainFit(
        population=population,
        states=tuple(chains.states.levels),
        counts=counts,
        transition=estimates(counts),
        bounds=bounds,
        records=windows.records,
        runs=windows.runs,
        missing=windows.missing,
        diagnostics=(*checks, *_about_bounds(counts, bounds)),
    )


def most_records(length: object) -> int:
    """The most records that a series of the study may have. `InputError` if it isn't said."""
    return whole_number(
        "length",
        length,
        expected="the most records that a series of the study may have, a whole number",
        remedy="For example 365, for a year of days.",
    )


def check_order_argument(order: object, known: Sequence[object]) -> None:
    """Raises `InputError` for an `order` that is not among those `known`."""
    if isinstance(order, bool) or order not in known:
        named = [repr(choice) for choice in known]
        raise InputError("order", order, expected=f"{', '.join(named[:-1])} or {named[-1]}")


def _check_arguments(
    order: object,
    gaps: object,
    missing: object,
    confidence: float | None,
) -> None:
    check_order_argument(order, (*ORDERS, "auto"))
    for key, value, options in (
        ("gaps", gaps, ("break", "bridge")),
        ("missing", missing, ("break", "drop")),
    ):
        if value not in options:
            raise InputError(key, value, expected=f"'{options[0]}' or '{options[1]}'")
    if confidence is not None:
        check_confidence(confidence)


def _need_time(**arguments: object) -> None:
    for key, value in arguments.items():
        if value is not None:
            raise InputError(
                key,
                value,
                expected="to stand with the column of times",
                remedy="Name it as time, or leave this out: rows then follow each other as in "
                "the file.",
            )


def _chains(
    table: object,
    column: str,
    declared: dict[str, Any],
    series: tuple[str, ...],
    time: Column | None,
    *,
    bridge: bool,
    drop: bool,
) -> Chains:
    """The table as chains. Raises `InputError` about the argument that is wrong."""
    opened = open_table(table).with_places()
    require_column(opened, column, "column")
    for name in series:
        require_column(opened, name, "series")
    if time is not None:
        require_column(opened, time.name, "time")
    states = read_states(opened, column, declared)
    chains = Chains(opened, states, series, time, bridge, drop)
    chains.check()
    return chains


def _depth(states: int, order: int | Literal["auto"]) -> int:
    """How many records before the last one are counted with it: one more than orders need.

    As many as tables of counts may have cells for; raises `InputError` where that is fewer than
    the `order`.
    """
    least, depth = (1, max(ORDERS) + 1) if order == "auto" else (order, order + 1)
    while depth >= least and states ** (depth + 1) > MOST_CELLS:
        depth -= 1
    if depth < least:
        raise InputError(
            "order",
            order,
            expected=f"at most {MOST_CELLS} cells of counts, and {states} states have "
            f"{states ** (least + 1)}",
            remedy="Use fewer states, or a lower order.",
        )
    return depth


def _counts(windows: WindowCounts, order: int) -> Counts:
    counts = windows.tables[order]
    if not counts.any():
        raise UnsupportedError(
            "table",
            f"{windows.records} records in {windows.runs} runs",
            expected=f"at least one run of {order + 1} neighbours",
            remedy="Look at the step between two times, and at the columns that tell series apart.",
        )
    return counts


def _least_information(windows: WindowCounts) -> tuple[int, tuple[FitCheck, ...]]:
    """The order with the least BIC, all on the same windows, and what to say of that."""
    longest = max([j for j in ORDERS if j < len(windows.tables) and windows.tables[j].any()] or [1])
    values = {k: information(windows.tables[longest], k) for k in range(1, longest + 1)}
    best = min(values, key=values.__getitem__)
    listed = ", ".join(f"{value:.1f} for order {k}" for k, value in values.items())
    text = (
        f"Order {best} has the least BIC ({listed}). It was chosen by the data: what is said with "
        "confidence holds if the chain is of this order."
    )
    return best, (FitCheck("order", text),)


def _bridged(chains: Chains, grouped: GroupedWindows, counts: Counts) -> tuple[FitCheck, ...]:
    """What to say of transitions over gaps; empty where gaps and missing cells end a run."""
    if not chains.bridge and not (chains.drop and chains.time is None):
        return ()
    order = counts.ndim - 1
    unbridged = grouped.unbridged
    if chains.drop:
        try:
            unbridged = chains.every_row().count(order)
        except InputError as error:  # a row that was left out, which only ends a run here
            text = f"Transitions over gaps can't be held against the others: {error.key} can't be"
            text += " read in a row that was left out."
            return (FitCheck("over gaps against one step", text),)
    return (check_gaps(counts, unbridged.tables[order]),)


PRICED_AT = 0.1
"""The DP cost at which orders are compared."""
_SECONDS = 0.05
_STOP_AFTER = 1.0
"""What theorems may take to compare two orders: an estimate, and a limit in seconds."""


def _price_of_order(
    windows: WindowCounts, order: int, confidence: float | None, length: int
) -> str:
    """What the level of the next order is beside that of this one, in words."""
    levels = []
    for k in (order, order + 1):
        counts = windows.tables[k]
        bounds = None if confidence is None else transition_bounds(counts, confidence)
        try:
            population = _population(counts, bounds, length, "")
        except UnsupportedError:
            return "bayesdp leakage tells its level"
        question = Question(population, "any", "bounded", _SECONDS, stop_after=_STOP_AFTER)
        levels.append(best_bound(question, Cost.of(PRICED_AT)).epsilon)
    here, there = map(up_words, levels)
    return f"at a DP cost of {PRICED_AT:g} a level of {there} instead of {here}"


def _parts_beside(chains: Chains, depth: int) -> tuple[Part, ...]:
    """The parts to compare with each other whose windows are counted with those of the table."""
    number = chains.number_of_series
    kinds = len(chains.states.levels) ** (depth + 1)
    beside: list[Part] = []
    if _has_halves(chains) and 2 * kinds <= MOST_GROUPS:
        beside.append("half")
        kinds *= 2
    if 1 < number <= MOST_SERIES and number * kinds <= MOST_GROUPS:
        beside.append("series")
    return tuple(beside)


def _has_halves(chains: Chains) -> bool:
    return chains.time is not None or not chains.series  # else rows of two halves are two groups


def _homogeneity(chains: Chains, grouped: GroupedWindows, counts: Counts) -> Iterator[FitCheck]:
    """Time against time, and series against series."""
    order = counts.ndim - 1

    def each(part: Part) -> list[Counts]:
        beside = grouped if part in grouped.parts else chains.windows(order, (part,))
        return [windows.tables[order] for windows in beside.each(part)]

    if _has_halves(chains):
        yield check_halves(each("half"), "rows" if chains.time is None else "time")
    number = chains.number_of_series
    if number > 1:
        short = counts.sum() < LEAST_TRANSITIONS * number or number > MOST_SERIES
        yield check_series([] if short else each("series"), number, int(counts.sum()))


def _about_bounds(counts: Counts, bounds: TransitionBounds | None) -> Iterator[FitCheck]:
    """What can't be said from so many records."""
    contexts = counts.sum(axis=-1)
    never = int((contexts == 0).sum())
    unseen = int((counts == 0).sum()) - never * counts.shape[-1]
    if bounds is None:
        text = f"The population has the most likely transitions, {NO_ALLOWANCE}."
        yield FitCheck("bounds", text, fits=False)
        return
    if never:
        noun = "context" if never == 1 else "contexts"
        text = f"{never} {noun} of {contexts.size} never occurred: nothing is known of what follows"
        yield FitCheck("contexts", f"{text} them. Use a lower order or fewer states.", fits=False)
    if unseen:
        noun = "transition was" if unseen == 1 else "transitions were"
        text = (
            f"{unseen} {noun} never seen, and may be impossible or rare: levels are then hardly "
            "below those of series of equal records. Put states together that are rare."
        )
        yield FitCheck("unseen transitions", text, fits=False)
    if counts.ndim > 2 or counts.shape[-1] > 2:
        text = (
            "Levels for bounds are sharp for two states and order 1 only; here they come from "
            "markov-contraction, and may be far above those of any chain between the bounds."
        )
        yield FitCheck("levels", text)


def _source(
    windows: WindowCounts,
    counts: Counts,
    confidence: float | None,
    choice: tuple[FitCheck, ...],
    bridged: tuple[FitCheck, ...],
) -> str:
    """Who vouches for the population: what was fitted, and how sure the bounds are."""
    order = counts.ndim - 1
    order_words = f"order {order}{' (chosen by BIC from the same data)' if choice else ''}"
    runs = "1 run" if windows.runs == 1 else f"{windows.runs} runs"
    data = f"fitted to {counts.sum()} transitions of {windows.records} records in {runs}"
    step = "; a gap that was bridged counts as one step" if bridged else ""
    if confidence is None:
        return f"{data}: the most likely transitions of {order_words}, {NO_ALLOWANCE}{step}"
    return (
        f"{data}: the bounds hold all transitions at once with confidence "
        f"{confidence_words(confidence)}, if series are independent chains of {order_words} with "
        "the same transitions, and whether a record is missing does not depend on its state"
        f"{step}"
    )


def _population(
    counts: Counts, bounds: TransitionBounds | None, length: int, source: str
) -> MarkovChain:
    common: dict[str, Any] = {"order": counts.ndim - 1, "length": length, "source": source}
    if bounds is not None:
        lower, upper = bounds.lower.tolist(), bounds.upper.tolist()
        return MarkovChain(transition_lower=lower, transition_upper=upper, **common)
    likely = estimates(counts)
    try:
        if np.isnan(likely).any():
            raise InputError("transition", expected="a law after every context", shown=False)
        return MarkovChain(transition=likely.tolist(), **common)
    except InputError:
        pass
    raise UnsupportedError(
        "confidence",
        None,
        expected="a number such as 0.95: the most likely transitions are not a population, because "
        "a context never occurred or is left for good",
        remedy="Use bounds, a lower order, or fewer states.",
        shown=False,
    )
