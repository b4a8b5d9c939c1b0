"""`program`: programs of private Bayesian inference, checked before they touch data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bayesdp.cli.common import Json, app, guarded, print_json
from bayesdp.errors import InputError

program_app = typer.Typer(
    help="Programs of private Bayesian inference: checked before they touch data.",
    no_args_is_help=True,
)
app.add_typer(program_app, name="program")

ProgramText = Annotated[
    str, typer.Argument(metavar="FILE[:NAME]", help="A program file, and a program in it.")
]
SettingsOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="The value of a public argument."),
]
COLOURS = {"ACCEPTED": "green", "REJECTED": "red", "UNKNOWN": "yellow"}


@program_app.command("check")
@guarded
def program_check(
    program: ProgramText,
    n: Annotated[
        int | None,
        typer.Option("--n", help="The public number of records: constants may then be sharper."),
    ] = None,
    settings: SettingsOption = None,
    certificate: Annotated[
        Path | None,
        typer.Option(
            metavar="OUT", help="Write the certificate of its cost, for `bayesdp verify`."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Whether a program is differentially private, and at what cost. No data is read.

    ACCEPTED with its (epsilon, delta), REJECTED with the line, or UNKNOWN: never accepted.
    """
    from bayesdp.programs.source import ProgramError, read_file
    from bayesdp.programs.verdicts import refused, verdict_in

    path, name = split(program)
    chosen = values_of(settings or [])
    try:
        source = read_file(path)
        if chosen and name is None and len(source.programs) > 1:
            one_of = " or ".join(f"{path}:{one}" for one in source.programs)
            raise InputError("--set", ", ".join(chosen), expected=f"one program: {one_of}")
        names: list[str | None] = [name] if name is not None else [*source.programs] or [None]
        found = [verdict_in(source, one, n, chosen) for one in names]
    except ProgramError as error:
        found = [refused(error, name)]
    if certificate is not None:
        if len(found) != 1:
            names_of = " or ".join(f"{path}:{one.name}" for one in found)
            raise InputError("--certificate", str(certificate), expected=f"one program: {names_of}")
        if found[0].verdict == "ACCEPTED":
            from bayesdp.programs.certificate import write_program_certificate
            from bayesdp.programs.source import core_of

            write_program_certificate(core_of(source, name, chosen), found[0], certificate)
    if as_json:
        told = [one.to_dict() for one in found]
        print_json(told[0] if len(told) == 1 else {"programs": told})
    else:
        for i, one in enumerate(found):
            head, _, rest = str(one).partition(one.verdict)
            styled = typer.style(one.verdict, fg=COLOURS[one.verdict], bold=True)
            typer.echo(("\n" if i else "") + head + styled + rest)
    if any(one.verdict != "ACCEPTED" for one in found):
        raise typer.Exit(1)


def split(text: str) -> tuple[Path, str | None]:
    """FILE or FILE:NAME."""
    head, colon, name = text.rpartition(":")
    if not colon or Path(text).is_file():
        return Path(text), None
    if not name.isidentifier():
        raise InputError("program", text, expected="FILE or FILE:NAME")
    return Path(head), name


def values_of(settings: list[str]) -> dict[str, object]:
    """NAME=VALUE pairs: numbers are exact decimals or fractions, true and false truth values."""
    from bayesdp.programs.source.literals import setting

    found: dict[str, object] = {}
    for one in settings:
        name, equals, text = one.partition("=")
        if not equals or not name.isidentifier() or name in found:
            raise InputError("--set", one, expected="NAME=VALUE, each name once")
        found[name] = setting(text)
    return found
