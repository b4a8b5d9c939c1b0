"""A fitted population, for people at a terminal: its numbers, and what speaks against it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

from rich.console import Console

from bayesdp.accounting.costs.rounded import value_words
from bayesdp.fitting import (
    AutoregressiveFit,
    ChainFit,
    ExchangeableFit,
    FiniteFit,
    FitCheck,
    NetworkFit,
    OrdersFit,
    RolesFit,
    TreeFit,
)
from bayesdp.fitting.numbers_of import between_words
from bayesdp.populations import Population
from bayesdp.release.private_fits.fit_plan import ExpectedFit, FitPlan
from bayesdp.release.private_fits.private_fit import PrivateFit
from bayesdp.report.layout import bullet, say, show_table

MOST_ROWS = 32
"""The most rows of transitions that are shown; the population has them all."""


Fitted = (
    AutoregressiveFit
    | ChainFit
    | ExchangeableFit
    | FiniteFit
    | NetworkFit
    | OrdersFit
    | RolesFit
    | TreeFit
)


def show_fit(console: Console, fitted: Fitted, out: Path | None) -> None:
    """Print what was `fitted` on the `console`: the bounds, what was looked at, and the population.

    `out` is the file that the population was written to, if any.
    """
    _show_population(console, fitted.population)
    if isinstance(fitted, ChainFit):
        _show_transitions(console, fitted)
    for chain in fitted.fits if isinstance(fitted, OrdersFit) else ():
        say(console, f"Order {chain.order}: {chain.population.source}.")
        _show_transitions(console, chain)
    if isinstance(fitted, FiniteFit):
        _show_law(console, fitted)
    _show_use(console, fitted.diagnostics, fitted.population, out)


def show_private_fit(console: Console, fitted: PrivateFit, out: Path | None) -> None:
    """Print a private fit on the `console`: what it cost, the bounds, and what was not looked at.

    `out` is the file that the population was written to, if any.
    """
    _show_population(console, fitted.population)
    if fitted.is_new:
        say(console, f"{fitted.plan.promise()} It is release {fitted.release} in the ledger.")
    else:
        say(
            console,
            f"Nothing was spent: this fit was made before, at {fitted.time}, and is release "
            f"{fitted.release} in the ledger. New noise costs as much again: --again.",
        )
    _show_transitions(console, fitted)
    _show_use(console, fitted.diagnostics, fitted.population, out)
    say(
        console,
        "The fit's cost counts in every level of the data set. A study that uses the population is "
        "added to the ledger with 'bayesdp ledger register STUDY'.",
    )


def show_fit_plan(console: Console, plan: FitPlan, expected: ExpectedFit) -> None:
    """Print on the `console` what a private fit by this `plan` would cost, and what is expected."""
    say(console, plan.promise())
    for sentence in expected.sentences():
        say(console, sentence)
    say(console, "Nothing was read, and nothing was spent.")


def _show_population(console: Console, population: Population) -> None:
    say(console, f"A population: {population.describe()}.")
    say(console, f"Source: {population.source}.")


def _show_use(
    console: Console, checks: Sequence[FitCheck], population: Population, out: Path | None
) -> None:
    """What was looked at, and what to do with the population."""
    for check in checks:
        bullet(console, check.sentence)
    if out is None:
        say(console, "Nothing was written: add --out population.json to use the population.")
    else:
        say(console, f"The population is in {out}: bayesdp leakage {out} --epsilon 0.5")
        if out.suffix != ".toml":
            return
        covers = "" if population.covers else ", with covers = [...] for its columns"
        say(console, f"It can stand in a study as it is{covers}.")


def show_checks(console: Console, fitted: Fitted) -> None:
    """Print what was looked at, a sentence each."""
    for check in fitted.diagnostics:
        bullet(console, check.sentence)


def _show_transitions(console: Console, fitted: ChainFit | PrivateFit) -> None:
    contexts = list(product(range(len(fitted.states)), repeat=fitted.order))
    rows = [
        (" ".join(str(fitted.states[state]) for state in context), *_laws(fitted, context))
        for context in contexts[:MOST_ROWS]
    ]
    title = "What follows" + ("" if fitted.bounds is None else ", with its bounds")
    header = "after" if fitted.order == 1 else f"after {fitted.order} records, the oldest first"
    show_table(console, title, (header, *(str(state) for state in fitted.states)), rows)
    if len(contexts) > MOST_ROWS:
        say(console, f"{len(contexts) - MOST_ROWS} more contexts are in the population.")


def _show_law(console: Console, fitted: FiniteFit) -> None:
    """The counted cells; of exchangeable records one for each kind of cluster."""
    rows = []
    places = product(range(len(fitted.states)), repeat=fitted.law.ndim)
    cells = [c for c in places if fitted.roles is not None or list(c) == sorted(c)]
    for cell in cells[:MOST_ROWS]:
        share = f"{float(fitted.law[cell]):.4f}"
        if fitted.lower is not None and fitted.upper is not None:
            low, high = float(fitted.lower[cell]), float(fitted.upper[cell])
            share = f"{value_words(float(fitted.law[cell]), (high - low) / 2.0)} "
            share += f"({between_words(low, high)})"
        count = str(int(fitted.counts[cell]))
        rows.append((*(str(fitted.states[state]) for state in cell), count, share))
    names = fitted.roles or [f"record {i + 1}" for i in range(fitted.law.ndim)]
    title = "The joint law" + ("" if fitted.roles else ", the same in every order of the records")
    show_table(console, title, (*names, "clusters", "probability"), rows)
    if len(cells) > MOST_ROWS:
        say(console, f"{len(cells) - MOST_ROWS} more cells are in the population.")


def _laws(fitted: ChainFit | PrivateFit, context: tuple[int, ...]) -> list[str]:
    """The probabilities of the next state after a context."""
    cells = []
    for state in range(len(fitted.states)):
        place: Any = (*context, state)
        share = float(fitted.transition[place])
        cell = "never seen" if math.isnan(share) else f"{share:.4f}"
        if fitted.bounds is not None:
            low, high = fitted.bounds.lower[place], fitted.bounds.upper[place]
            cell += f" ({float(low)!r} to {float(high)!r})"
        cells.append(cell)
    return cells
