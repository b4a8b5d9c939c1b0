"""`compose`: what several releases cost together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bayesdp.cli.common import AdversaryOption, Json, app, command, console, print_json


@command(app, "bayesdp compose releases.json")
def compose(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help='JSON: {"population": {...}, "releases": [{"name", "dp_epsilon" (and "dp_delta") '
            'or "rho" or "channel", "block"}, ...]}.',
        ),
    ],
    population: Annotated[
        str | None,
        typer.Option(metavar="POP", help="Another population than the file's: a file or JSON."),
    ] = None,
    delta: Annotated[
        float, typer.Option(help="The delta of the levels: needed for zCDP costs and dp_delta.")
    ] = 0.0,
    adversary: AdversaryOption = "any",
    seconds: Annotated[
        float, typer.Option(help="Time that a theorem may take for one level.")
    ] = 1.0,
    as_json: Json = False,
) -> None:
    """What releases cost together: what the rules of the literature claim, and what is true."""
    from bayesdp.accounting.what_if import read_releases, what_if
    from bayesdp.populations import load

    answer = what_if(
        read_releases(file),
        None if population is None else load(population),
        adversary=adversary,
        delta=delta,
        seconds=seconds,
    )
    if as_json:
        print_json(answer.to_dict())
        return
    from bayesdp.report.compositions import show_composition

    show_composition(console(), answer)
