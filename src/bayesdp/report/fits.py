"""A fitted population, for people at a terminal: its numbers, and what speaks against it."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path
from typing import Any

from rich.console import Console

from bayesdp.fitting import AutoregressiveFit, ChainFit, ExchangeableFit, RolesFit
from bayesdp.report.layout import bullet, say, show_table

MOST_ROWS = 32
"""The most rows of transitions that are shown; the population has them all."""


def show_fit(
    console: Console,
    fitted: AutoregressiveFit | ChainFit | ExchangeableFit | RolesFit,
    out: Path | None,
) -> None:
    """Print what was `fitted` on the `console`: the bounds, what was looked at, and the population.

    `out` is the file that the population was written to, if any.
    """
    say(console, f"A population: {fitted.population.describe()}.")
    say(console, f"Source: {fitted.population.source}.")
    if isinstance(fitted, ChainFit):
        _show_transitions(console, fitted)
    for check in fitted.diagnostics:
        bullet(console, check.sentence)
    if out is None:
        say(console, "Nothing was written: add --out population.json to use the population.")
    else:
        say(console, f"The population is in {out}: bayesdp leakage {out} --epsilon 0.5")
        if out.suffix != ".toml":
            return
        say(console, "It can stand in a study as it is, with covers = [...] for its columns.")


def _show_transitions(console: Console, fitted: ChainFit) -> None:
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


def _laws(fitted: ChainFit, context: tuple[int, ...]) -> list[str]:
    """The probabilities of the next state after a context."""
    cells = []
    for state in range(len(fitted.states)):
        place: Any = (*context, state)
        share = float(fitted.transition[place])
        told = "never seen" if math.isnan(share) else f"{share:.4f}"
        if fitted.bounds is not None:
            low, high = fitted.bounds.lower[place], fitted.bounds.upper[place]
            told += f" ({float(low)!r} to {float(high)!r})"
        cells.append(told)
    return cells
