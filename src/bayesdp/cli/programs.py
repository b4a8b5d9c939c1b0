"""`program`: programs of private Bayesian inference, checked before they touch data."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesdp.cli.common import Json, command, group, print_json
from bayesdp.errors import InputError

if TYPE_CHECKING:
    from bayesdp.programs.source.syntax.source_file import SourceFile
    from bayesdp.programs.verdict import ProgramVerdict

program_app = group(
    "program",
    "bayesdp program check coin.py",
    "Programs of private Bayesian inference: checked before they touch data.",
)

ProgramArgument = Annotated[
    str, typer.Argument(metavar="FILE[:NAME]", help="A program file, and a program in it.")
]
SettingsOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="The value of a public argument."),
]
SizeOption = Annotated[
    int | None,
    typer.Option("--n", help="The public number of records: constants may then be sharper."),
]
COLOURS = {
    "ACCEPTED": "green",
    "REJECTED": "red",
    "UNKNOWN": "yellow",
    "NOTHING FOUND": "green",
    "COUNTEREXAMPLE": "red",
}


@command(program_app, "bayesdp program check coin.py", "check")
def program_check(
    program: ProgramArgument,
    n: SizeOption = None,
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
    path, name = split(program)
    values = values_of(settings or [])
    source, checked = verdicts(path, name, n, values)
    if certificate is not None:
        if len(checked) != 1:
            choices = " or ".join(f"{path}:{verdict.name}" for verdict in checked)
            raise InputError("--certificate", str(certificate), expected=f"one program: {choices}")
        if source is not None and checked[0].verdict == "ACCEPTED":
            from bayesdp.programs.certificate import write_program_certificate
            from bayesdp.programs.source import core_of

            write_program_certificate(core_of(source, name, values), checked[0], certificate)
    if as_json:
        print_documents([verdict.to_dict() for verdict in checked])
    else:
        print_answers([(verdict.verdict, str(verdict)) for verdict in checked])
    if any(verdict.verdict != "ACCEPTED" for verdict in checked):
        raise typer.Exit(1)


@command(program_app, "bayesdp program falsify coin.py", "falsify")
def program_falsify(
    program: ProgramArgument,
    n: SizeOption = None,
    settings: SettingsOption = None,
    as_json: Json = False,
) -> None:
    """Look for two small neighbouring tables on which an accepted program's claims are wrong.

    The tables are made up from the columns' types; no data is read. Nothing found proves nothing
    about other tables. Exit status 1: a counterexample, which is a mistake of bayesdp.
    """
    from bayesdp.programs.falsify import falsify
    from bayesdp.programs.falsify.findings_text import (
        COUNTEREXAMPLE,
        NOTHING_FOUND,
        as_data,
        in_words,
    )
    from bayesdp.programs.source import core_of

    path, name = split(program)
    values = values_of(settings or [])
    source, checked = verdicts(path, name, n, values)
    for verdict in checked:
        if source is None or verdict.verdict != "ACCEPTED":
            raise InputError(
                "program",
                f"{path}:{verdict.name}" if verdict.name else str(path),
                expected=f"a program that is accepted; this one is {verdict.verdict}",
                remedy="It claims nothing that could be wrong; `bayesdp program check` says why.",
            )
    assert source is not None
    tried = [
        (verdict, falsify(core_of(source, verdict.name, values), verdict)) for verdict in checked
    ]
    if as_json:
        print_documents([as_data(verdict, findings) for verdict, findings in tried])
    else:
        print_answers(
            [
                (COUNTEREXAMPLE if findings.excess else NOTHING_FOUND, in_words(verdict, findings))
                for verdict, findings in tried
            ]
        )
    if any(findings.excess for _, findings in tried):
        raise typer.Exit(1)


def verdicts(
    path: Path, name: str | None, n: int | None, values: Mapping[str, object]
) -> tuple[SourceFile | None, list[ProgramVerdict]]:
    """A program file with the verdicts on its programs, or on `name` alone.

    The file is `None` where the language refuses it. Raises `InputError` where public arguments are
    chosen for several programs, and for a file that can't be read.
    """
    from bayesdp.programs.checked_files import refused, verdict_in
    from bayesdp.programs.source import ProgramError, read_file

    try:
        source = read_file(path)
        if values and name is None and len(source.programs) > 1:
            choices = " or ".join(f"{path}:{program}" for program in source.programs)
            raise InputError("--set", ", ".join(values), expected=f"one program: {choices}")
        names: list[str | None] = [name] if name is not None else [*source.programs] or [None]
        return source, [verdict_in(source, program, n, values) for program in names]
    except ProgramError as error:
        return None, [refused(error, name)]


def print_documents(documents: list[dict[str, Any]]) -> None:
    """Print the document of one program, or one document with those of several."""
    print_json(documents[0] if len(documents) == 1 else {"programs": documents})


def print_answers(answers: list[tuple[str, str]]) -> None:
    """Print each text, with the answer inside it in colour."""
    for i, (answer, text) in enumerate(answers):
        head, _, rest = text.partition(answer)
        styled = typer.style(answer, fg=COLOURS[answer], bold=True)
        typer.echo(("\n" if i else "") + head + styled + rest)


def split(text: str) -> tuple[Path, str | None]:
    """The file and the program's name of FILE or FILE:NAME; the name is None where it isn't given.

    Raises `InputError` for a name that no program can have.
    """
    head, colon, name = text.rpartition(":")
    if not colon or Path(text).is_file():
        return Path(text), None
    if not name.isidentifier():
        raise InputError("program", text, expected="FILE or FILE:NAME")
    return Path(head), name


def values_of(settings: list[str]) -> dict[str, object]:
    """The values of NAME=VALUE pairs: exact decimals and fractions, true and false, or texts.

    Raises `InputError` for what is not such a pair, and for a name that comes twice.
    """
    from bayesdp.programs.source.syntax.literals import setting

    values: dict[str, object] = {}
    for pair in settings:
        name, equals, text = pair.partition("=")
        if not equals or not name.isidentifier() or name in values:
            raise InputError("--set", pair, expected="NAME=VALUE, each name once")
        values[name] = setting(text)
    return values
