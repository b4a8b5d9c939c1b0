"""`notions`: what follows from a guarantee in one notion for all others."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from bayesdp.cli.common import AdversaryOption, Json, app, command, console, print_json, written
from bayesdp.errors import InputError

GroupSizeOption = Annotated[
    int | None,
    typer.Option(min=1, help="Records of a group, for group-dp; needed where that is given."),
]
DefaultRecordOption = Annotated[
    float | None,
    typer.Option(
        help="The default record of sp and bsp: a state's number, from 0; needed where one of them "
        "is given."
    ),
]


@command(app, "bayesdp notions --given bdp=1.0")
def notions(
    given: Annotated[
        list[str],
        typer.Option(metavar="NOTION=LEVEL", help="What holds, such as bdp=1.0. Repeatable."),
    ],
    population: Annotated[
        str | None,
        typer.Option(
            metavar="POP", help="A population: a TOML or JSON file, a study file, or inline JSON."
        ),
    ] = None,
    assume: Annotated[
        list[str] | None,
        typer.Option(metavar="HYPOTHESIS", help="What you vouch for. Repeatable."),
    ] = None,
    adversary: AdversaryOption = "any",
    size: GroupSizeOption = None,
    default: DefaultRecordOption = None,
    to: Annotated[
        list[str] | None,
        typer.Option(metavar="NOTION", help="Only this notion. Repeatable."),
    ] = None,
    seconds: Annotated[
        float, typer.Option(help="Time that a theorem may take; slower ones are refused.")
    ] = 30.0,
    certificate: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a certificate of the levels, for `verify`."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Every notion of privacy that follows from given levels, the best level, and the way."""
    from bayesdp.populations import load
    from bayesdp.theorems.relations.search import implied

    implications = implied(
        _levels(given),
        load(population) if population is not None else None,
        assume or (),
        adversary=adversary,
        size=size,
        default=default,
        seconds=seconds,
    )
    targets = list(dict.fromkeys(to or ()))
    _require_known(targets)
    missing = [notion for notion in targets if notion not in implications]
    if certificate is not None and not missing:
        from bayesdp.release.certificates.implications import implications_certificate

        proof = implications_certificate(implications, targets, seconds=seconds)
        written(certificate, proof.to_json() + "\n")
    _show(implications.to_dict(), targets, as_json)
    if missing:
        typer.echo(f"Does not follow: {', '.join(missing)}", err=True)
        raise typer.Exit(1)


def _show(document: dict[str, Any], targets: list[str], as_json: bool) -> None:
    """Show the notions that follow, or those of them that are `wanted`."""
    if targets:
        for part in ("implied", "needs"):
            document[part] = [row for row in document[part] if row["notion"] in targets]
    if as_json:
        print_json(document)
        return
    from bayesdp.report.relations import show_implications

    show_implications(console(), document)


def _levels(given: list[str]) -> dict[str, Any]:
    levels: dict[str, float] = {}
    for text in given:
        notion, equals, number = text.partition("=")
        notion = notion.strip()
        try:
            level = float(number)
        except ValueError:
            equals = ""
        if not equals:
            raise InputError("--given", text, expected="a notion and its level, such as bdp=1.0")
        if notion in levels:
            raise InputError(
                "--given", text, expected=f"one level of {notion}", remedy="Give the least alone."
            )
        levels[notion] = level
    return levels


def _require_known(notions: list[str]) -> None:
    from bayesdp.notions.catalogue import notion_of

    for notion in notions:
        notion_of(notion)
