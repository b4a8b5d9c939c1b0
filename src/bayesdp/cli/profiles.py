"""`profile`: every notion of privacy side by side, for one channel and one population."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from bayesdp.cli.common import Json, app, command, console, positive, print_json
from bayesdp.errors import InputError


@command(app, "bayesdp profile model.json")
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
    causal_model = read_model(model)
    levels = evaluate(
        causal_model.population,
        causal_model.channel,
        _default(default),
        secrets=causal_model.pufferfish,
    )
    deltas = None if epsilon is None else levels.delta(epsilon)
    if as_json:
        extra: dict[str, Any] = {}
        if deltas is not None:
            extra = {"delta": {"epsilon": epsilon, "dp": deltas.dp, "bdp": deltas.bdp}}
        print_json(levels.to_dict() | extra)
        return
    from bayesdp.report.profiles import show_profile

    show_profile(console(), levels, deltas)


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
