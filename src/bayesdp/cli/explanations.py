"""`explain`: a certificate or a study in plain English."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bayesdp.cli.common import Json, app, command, console, print_json


@command(app, "bayesdp explain heights.toml")
def explain(
    file: Annotated[
        Path, typer.Argument(metavar="CERT|STUDY", help="A certificate (JSON) or a study (TOML).")
    ],
    as_json: Json = False,
) -> None:
    """Say in plain English what is promised, and what isn't. Reads no data.

    A certificate is checked first. Of a program, write one first: `bayesdp program check FILE
    --certificate OUT`, then `bayesdp explain OUT`.

    Status 1: the certificate is INVALID or UNKNOWN, or the study is over budget.
    """
    from bayesdp.report.explain import explain as explained
    from bayesdp.report.explain import subject_of

    explanation = explained(subject_of(file, "CERT|STUDY"))
    if as_json:
        print_json(explanation.to_dict())
    else:
        from bayesdp.report.layout import READABLE

        typer.echo(explanation.text(min(console().width, READABLE)), nl=False)
    if not explanation.holds:
        raise typer.Exit(1)
