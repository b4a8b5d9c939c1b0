"""`synthesize`: a synthetic table from released counts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bayesdp.cli.common import Json, app, command, print_json, say
from bayesdp.errors import InputError


@command(app, "bayesdp synthesize wheeze-4b0e12c9.certificate.json --out synthetic.csv")
def synthesize(
    certs: Annotated[
        list[Path],
        typer.Argument(metavar="CERT...", help="Certificates of releases of one data set."),
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="The table (CSV). What it is made of is written beside it: FILE's name with "
            ".note.json instead of .csv.",
        ),
    ],
    rows: Annotated[
        int | None, typer.Option(help="How many rows; as many as the data set has, unless given.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same table.")] = 0,
    intervals: Annotated[
        bool, typer.Option("--intervals", help="Intervals as they were released, not numbers.")
    ] = False,
    without: Annotated[
        list[str] | None,
        typer.Option(metavar="QUERY", help="A query that is not used; may be given repeatedly."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Make up a table whose counts are close to the released ones. It costs nothing."""
    from bayesdp.certificate import in_short
    from bayesdp.report.output import check_target, digest_of, note_beside, replace_file
    from bayesdp.synthetic import synthesize as synthesized
    from bayesdp.synthetic.note import note_lines, without_formula

    if out.suffix != ".csv":
        raise InputError("--out", str(out), expected="a file name that ends in .csv")
    note_file = note_beside(out)
    check_target(out, "synthetic table", reserved=certs)
    check_target(note_file, "note", reserved=certs)
    table = synthesized(certs, rows=rows, seed=seed, intervals=intervals, without=without or ())
    text = table.map(without_formula).rename(columns=without_formula).to_csv(index=False)
    note = table.attrs["note"] | {"table": digest_of(text)}
    try:
        replace_file(note_file, in_short(note))
        replace_file(out, text)
    except (OSError, ValueError) as error:
        raise InputError("--out", str(out), expected=f"a file to write to ({error})") from None
    if as_json:
        print_json(note)
        return
    typer.echo("\n".join(note_lines(note)))
    say(f"Synthetic table: {out} ({len(table)} rows)\nNote: {note_file}", err=False)
