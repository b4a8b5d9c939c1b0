"""`audit`: attacks on the releases of a study."""

from __future__ import annotations

from typing import Annotated

import typer

from bayesdp.cli.common import Json, StudyPath, app, command, console, print_json


@command(app, "bayesdp audit wheeze.toml --samples 4000")
def audit(
    study: StudyPath,
    samples: Annotated[
        int, typer.Option(help="Releases to draw for each of two hypotheses about a record.")
    ] = 20_000,
    confidence: Annotated[
        float, typer.Option(help="With which the level that the attack shows is a lower bound.")
    ] = 0.999,
    as_json: Json = False,
) -> None:
    """Attack a study's releases on made-up tables: exit status 1 where more leaks than is claimed.

    The claimed level, the strongest attack that was found, and the gap between them. Reads no
    table, debits nothing and releases nothing.
    """
    from bayesdp.audit import audit_study
    from bayesdp.release import Study

    answer = audit_study(Study.load(study), samples=samples, confidence=confidence)
    if as_json:
        print_json(answer.to_dict())
    else:
        from bayesdp.report.audits import show_audit

        show_audit(console(), answer)
    if answer.exceeded:
        raise typer.Exit(1)
