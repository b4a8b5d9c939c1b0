"""`profile`: every notion of privacy side by side, for one channel and one population."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesdp.cli.common import Json, app, console, guarded, positive, print_json
from bayesdp.errors import InputError

if TYPE_CHECKING:
    from bayesdp.leakage.profile import Deltas, Profile


@app.command()
@guarded
def profile(
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL", help='JSON: {"population": {...}, "channel": nested array}.'
        ),
    ],
    default: Annotated[
        str | None,
        typer.Option(
            metavar="D",
            help="What replaces a record in sp and bsp: the number of a value, or one for each "
            "record as in 0,1,0. The worst of all unless given.",
        ),
    ] = None,
    epsilon: Annotated[
        float | None, typer.Option(help="Also the delta of DP and BDP at this epsilon.")
    ] = None,
    as_json: Json = False,
) -> None:
    """The exact level of every notion of privacy on a small model, and what attains it."""
    from bayesdp.leakage.profile import profile as evaluate
    from bayesdp.leakage.profile.files import read_model

    if epsilon is not None:
        positive(epsilon, "--epsilon", zero=True)
    read = read_model(model)
    found = evaluate(read.population, read.channel, _default(default), secrets=read.pufferfish)
    deltas = None if epsilon is None else found.delta(epsilon)
    if as_json:
        extra: dict[str, Any] = {}
        if deltas is not None:
            extra = {"delta": {"epsilon": epsilon, "dp": deltas.dp, "bdp": deltas.bdp}}
        print_json(found.to_dict() | extra)
        return
    _show(console(), found, deltas)


def _default(text: str | None) -> int | list[int] | None:
    """A number, or numbers with commas between them."""
    if text is None:
        return None
    try:
        values = [int(part) for part in text.split(",")]
    except ValueError:
        raise InputError(
            "--default", text, expected="the number of a value, or one for each record as in 0,1,0"
        ) from None
    return values[0] if len(values) == 1 else values


def _show(console: Any, found: Profile, deltas: Deltas | None) -> None:
    from rich.markup import escape
    from rich.table import Table

    from bayesdp.notions import CATALOGUE
    from bayesdp.report.terminal import number

    table = Table(title="What this channel promises, exactly", title_justify="left")
    table.add_column("notion")
    table.add_column("level", justify="right")
    table.add_column("attained by")
    for key, one in found.found.items():
        title = CATALOGUE[key].title
        if key == "group-dp":
            title += f", {len(found.group)} records"
        level = "infinite" if math.isinf(one.level) else number(one.level)
        table.add_row(f"{key}\n[dim]{title}[/dim]", level, escape(found.attained(one)))
    console.print(table)
    for line in _remarks(found, deltas):
        console.print(line, highlight=False, markup=False)


def _remarks(found: Profile, deltas: Deltas | None) -> Iterator[str]:
    """What doesn't fit into the table."""
    from bayesdp.report.terminal import number

    replaced = "the worst of all values" if found.default is None else f"{list(found.default)}"
    yield (
        "Levels are in nats, except sp and bsp: changes of a probability, between 0 and 1. "
        f"The default that replaces a record there is {replaced}."
    )
    if not found.default_covers:
        yield (
            "The default is not possible beside every value of the other records: bsp says "
            "nothing about those, and implies no BDP level."
        )
    sizes = ", ".join(number(one.level) for one in found.group)
    yield f"Groups of 1 to {len(found.group)} records: {sizes}."
    yield (
        f"With x_S known, bsp is {number(found.bsp_known.level)}; with the population's own "
        f"beliefs, mp is {number(found.mp_of_prior.level)}."
    )
    if deltas is not None:
        levels = ", ".join(f"BDP {name} {number(level)}" for name, level in deltas.bdp.items())
        yield f"Delta at epsilon {number(deltas.epsilon)}: DP {number(deltas.dp)}, {levels}."
