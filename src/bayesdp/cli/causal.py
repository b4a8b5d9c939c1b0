"""`causal`: what setting a record changes, and what learning it changes, side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from bayesdp.cli.common import (
    Json,
    app,
    check_figure,
    command,
    console,
    print_json,
    say,
    write_figure,
)


@command(app, "bayesdp causal relatives.toml")
def causal(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL", help="A causal model: a TOML or JSON file, or inline JSON."
        ),
    ],
    mechanism: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help='{"channel": [...]} in FILE instead of the model\'s own.'
        ),
    ] = None,
    figure: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Draw both numbers against the strength of the dependence (SVG)."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """What setting a record changes in the output, and what learning it changes."""
    from bayesdp.causal import CausalModel

    loaded = CausalModel.load(model)
    channel: Any = None
    if mechanism is not None:
        from bayesdp.leakage.channel import read_channel

        channel = {"channel": read_channel(mechanism)}
    if figure is not None:
        check_figure(figure)
    both = loaded.compare(channel)
    if figure is not None:
        _draw(loaded, channel, both.most_seen.record, figure)
    if as_json:
        print_json(both.to_dict() | {"reading": list(both.reading())})
        return
    from bayesdp.report.causality import show_causal

    show_causal(console(), both)
    if figure is not None:
        say(f"The figure is in {figure}.", err=False)


def _draw(model: Any, channel: Any, record: str, path: Path) -> None:
    from bayesdp.causal import strengths
    from bayesdp.report.figures import seeing_and_doing

    write_figure(path, seeing_and_doing(strengths(model, channel, record)))
