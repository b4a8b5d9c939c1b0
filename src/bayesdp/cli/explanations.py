"""`explain`: a certificate or a study in plain English."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from bayesdp.cli.common import Json, app, console, guarded, print_json, text_of


@app.command()
@guarded
def explain(
    what: Annotated[
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

    found = explained(_subject(what))
    if as_json:
        print_json(found.to_dict())
    else:
        from bayesdp.report.layout import READABLE

        typer.echo(found.text(min(console().width, READABLE)), nl=False)
    if not found.holds:
        raise typer.Exit(1)


def _subject(path: Path) -> Any:
    """A certificate's document, else a study."""
    from bayesdp.certificate import Certificate
    from bayesdp.errors import InputError
    from bayesdp.kernel import read
    from bayesdp.release import Study

    text = text_of(path, "CERT|STUDY")
    if path.suffix != ".toml" and text.lstrip().startswith(("{", "[")):
        Certificate.load(path)  # says what is wrong with a file that is no certificate
        return read(text)
    if path.suffix == ".py":
        raise InputError(
            "CERT|STUDY",
            str(path),
            expected="a certificate (JSON) or a study (TOML), not a program",
            remedy=f"Check the program first: `bayesdp program check {path} --certificate OUT`, "
            "then `bayesdp explain OUT`.",
        )
    return Study.load(path)
