"""`ledger`: the durable budget."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesdp.cli.common import (
    Json,
    StudyPath,
    command,
    console,
    group,
    positive_seconds,
    print_json,
)
from bayesdp.errors import InputError, as_shown

if TYPE_CHECKING:
    from bayesdp.accounting.ledger import Ledger

ledger_app = group("ledger", "bayesdp ledger show", "The durable budget.")

LedgerOption = Annotated[
    str,
    typer.Option(
        "--ledger", metavar="URL", help="The ledger: a path, sqlite:///PATH or postgresql://..."
    ),
]


DataSetName = Annotated[str, typer.Argument(metavar="NAME", help="The data set, as in the study.")]
DataSetOption = Annotated[
    str | None, typer.Option("--data-set", metavar="NAME", help="Only this data set.")
]
AnalystOption = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Only releases and attempts of this analyst."),
]
SinceOption = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="Only releases and attempts since then: 2026-11-01, or a time; UTC unless said.",
    ),
]
UntilOption = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="Only those until then; a date is the end of that day."),
]
SecondsOption = Annotated[
    float,
    typer.Option(help="Time that a theorem may take for a level: as much as the studies have."),
]


def _at_option(error: InputError) -> InputError:
    """The error at the option that was typed."""
    options = {"dataset": "--data-set", "analyst": "--analyst"}
    options |= {"since": "--since", "until": "--until"}
    return error.at(options[error.key]) if error.key in options else error


def _ledger(ledger: str, seconds: float = 1.0) -> Ledger:
    """The ledger that is named, whether it is there or not."""
    from functools import partial

    from bayesdp.accounting.costs.composition import level
    from bayesdp.accounting.ledger import Ledger

    positive_seconds(seconds)
    return Ledger(ledger, level=partial(level, seconds=seconds))


def _opened(ledger: str, seconds: float = 1.0) -> Ledger:
    """The ledger that is named. Raises `InputError` where there is none."""
    opened = _ledger(ledger, seconds)
    if not opened.exists():
        raise InputError(
            "--ledger",
            ledger,
            expected="a ledger, and there is none",
            remedy="It stands beside the study, or where its budget.ledger says: name it, as in "
            "--ledger FOLDER/ledger.db. The first release of a study makes it.",
        )
    return opened


@command(ledger_app, "bayesdp ledger show --ledger ledger.db", "show")
def ledger_show(
    ledger: LedgerOption = "ledger.db",
    seconds: SecondsOption = 1.0,
    data_set: DataSetOption = None,
    analyst: AnalystOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    as_json: Json = False,
) -> None:
    """What is spent and what is left, by data set, and who released what when."""
    from bayesdp.accounting.log.chosen import time_of

    opened = _opened(ledger, seconds)
    try:
        datasets, refusals = opened.entries(
            dataset=data_set, analyst=analyst, since=since, until=until
        )
    except InputError as error:
        raise _at_option(error) from None
    if as_json:
        print_json({"datasets": datasets, "refusals": refusals})
        return
    from bayesdp.report.ledgers import show_ledger

    filters = {
        f"of '{data_set}'": data_set,
        f"by '{analyst}'": analyst,
        **{
            f"{key} {time_of(text, key).isoformat(timespec='seconds')}": text
            for key, text in (("since", since), ("until", until))
            if text is not None
        },
    }
    only = " and ".join(words for words, value in filters.items() if value is not None)
    show_ledger(console(), datasets, refusals, only=only)


def _certificates(paths: Sequence[Path]) -> dict[str, Mapping[str, Any]]:
    """The certificates of releases in files, and in folders, by their names.

    Raises `InputError` for a file that is none, a folder that has none, and for one of something
    else than a release.
    """
    from bayesdp.certificate import Certificate

    documents: dict[str, Mapping[str, Any]] = {}
    for path in paths:
        files = [path]
        if path.is_dir():
            files = sorted(file for file in path.glob("*.certificate.json") if not file.is_fifo())
        if not files:
            expected = "a folder with certificates, whose names end in .certificate.json"
            raise InputError("--against", str(path), expected=expected)
        for file in files:
            try:
                certificate, intact = Certificate.load(file)
            except InputError as error:
                raise InputError(
                    "--against", str(file), expected=error.expected, remedy=error.remedy
                ) from None
            if not intact or "release" not in certificate.body:
                expected = "the certificate of a release, as it was written"
                remedy = "`bayesdp verify` says what is wrong with it."
                raise InputError("--against", str(file), expected=expected, remedy=remedy)
            documents[str(file)] = certificate.to_dict()
    return documents


@command(ledger_app, "bayesdp ledger verify --ledger ledger.db", "verify")
def ledger_verify(
    more: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[CERT]...", help="More of --against, as a shell's * gives them."),
    ] = None,
    ledger: LedgerOption = "ledger.db",
    against: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="CERT",
            help="Certificates of its releases, or folders of them: they know what was cut off.",
        ),
    ] = None,
    seconds: SecondsOption = 1.0,
    as_json: Json = False,
) -> None:
    """Find out whether somebody edited the ledger: exits with 1 where something doesn't fit."""
    certificates = _certificates([*(against or ()), *(more or ())])
    opened = _opened(ledger, seconds)
    faults = opened.faults(certificates)
    head = None if faults else opened.head()
    if as_json:
        document = {} if head is None else {"entries": head.sequence, "head": head.hash}
        document |= {"certificates": len(certificates)} if certificates else {}
        print_json({**document, "faults": [fault.to_dict() for fault in faults]})
    else:
        from bayesdp.report.ledgers import show_faults

        show_faults(console(), faults, head, len(certificates))
    if faults:
        raise typer.Exit(1)


@command(ledger_app, "bayesdp ledger trail --ledger ledger.db", "trail")
def ledger_trail(
    ledger: LedgerOption = "ledger.db",
    data_set: DataSetOption = None,
    analyst: AnalystOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    as_json: Json = False,
) -> None:
    """Who did what when, an entry a line: registrations, debits, results, refused attempts."""
    opened = _opened(ledger)
    try:
        lines = opened.trail(dataset=data_set, analyst=analyst, since=since, until=until)
    except InputError as error:
        raise _at_option(error) from None
    if as_json:
        print_json({"entries": lines})
    else:
        from bayesdp.report.ledgers import show_trail

        show_trail(console(), lines)


@command(ledger_app, "bayesdp ledger share heights Ada 0.25 --ledger ledger.db", "share")
def ledger_share(
    data_set: DataSetName,
    analyst: Annotated[str, typer.Argument(metavar="ANALYST", help="As in budget.analyst.")],
    share: Annotated[
        float, typer.Argument(metavar="SHARE", help="A part of the budget, from 0 to 1.")
    ],
    ledger: LedgerOption = "ledger.db",
) -> None:
    """Give an analyst a share of a data set's budget; who has none then releases nothing.

    Of data sets that share people it is a share of their one budget.
    """
    account = _opened(ledger).share(data_set, analyst, share)
    whose = f"'{as_shown(data_set)}'"
    if account.people is not None:
        names = ", ".join(f"'{as_shown(name)}'" for name in account.declared)
        whose = f"the people '{as_shown(account.people)}', of whom are the data sets {names}"
    typer.echo(f"The analyst '{analyst}' may spend {share:g} of the budget of {whose}.")


@command(ledger_app, "bayesdp ledger people cohort-7 january february", "people")
def ledger_people(
    people: Annotated[str, typer.Argument(metavar="PEOPLE", help="Their name, as in data.people.")],
    data_sets: Annotated[list[str], typer.Argument(metavar="NAME...", help="The data sets.")],
    ledger: LedgerOption = "ledger.db",
    seconds: SecondsOption = 1.0,
    as_json: Json = False,
) -> None:
    """Let data sets of the same people share one budget, with all that they have spent."""
    account = _opened(ledger, seconds).share_people(people, data_sets)
    if as_json:
        print_json(
            {
                "people": people,
                "datasets": list(account.declared),
                "counted": account.counted_words(),
            }
        )
        return
    names = ", ".join(f"'{name}'" for name in account.declared)
    typer.echo(f"The people '{people}' have one budget for {names}: {account.counted_words()}.")
    if account.shares:
        parts = ", ".join(f"{as_shown(who)} {part:g}" for who, part in account.shares.items())
        typer.echo(f"Shares of it: {parts}; nobody else may release from any of their data sets.")


@command(ledger_app, "bayesdp ledger freeze heights --ledger ledger.db", "freeze")
def ledger_freeze(
    data_set: DataSetName,
    ledger: LedgerOption = "ledger.db",
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why: for people.")] = "",
) -> None:
    """Release nothing from a data set until it is thawed; others of the same people go on."""
    others = _opened(ledger).freeze(data_set, reason)
    typer.echo(f"The data set '{as_shown(data_set)}' is frozen.")
    if others:
        names = ", ".join(f"'{as_shown(name)}'" for name in others)
        typer.echo(f"Not frozen are other data sets of the same people: {names}.")


@command(ledger_app, "bayesdp ledger thaw heights --ledger ledger.db", "thaw")
def ledger_thaw(
    data_set: DataSetName,
    ledger: LedgerOption = "ledger.db",
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why: for people.")] = "",
) -> None:
    """Release from a frozen data set again."""
    _opened(ledger).freeze(data_set, reason, frozen=False)
    typer.echo(f"The data set '{as_shown(data_set)}' is no longer frozen.")


@command(
    ledger_app,
    "bayesdp ledger grants ada bo --ledger postgresql://db.example.org/research",
    "grants",
)
def ledger_grants(
    analysts: Annotated[
        list[str], typer.Argument(metavar="LOGIN...", help="Analysts, by their logins there.")
    ],
    ledger: LedgerOption = "ledger.db",
) -> None:
    """Print the SQL that makes logins of a server analysts of a ledger: its curator runs it."""
    from bayesdp.accounting.stores.roles import grants
    from bayesdp.accounting.stores.server_addresses import parse
    from bayesdp.server_urls import SCHEME

    if not ledger.startswith(SCHEME):
        raise InputError(
            "--ledger",
            ledger,
            expected="a ledger on a server: a file has no roles",
            remedy="Name one as postgresql://HOST/DATABASE, or export this ledger and import it "
            "there. Whoever may write a file may write anything into it.",
        )
    typer.echo(grants(parse(ledger).schema, analysts), nl=False)


@command(ledger_app, "bayesdp ledger export backup.jsonl --ledger ledger.db", "export")
def ledger_export(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="Where to; else it is printed.")
    ] = None,
    ledger: LedgerOption = "ledger.db",
) -> None:
    """Write everything that is in a ledger as JSON lines: a backup, or to be read."""
    from bayesdp.report.output import check_target, replace_file

    opened = _opened(ledger)
    if file is not None:
        check_target(file, "export", reserved=opened.files)
    lines = opened.export()
    if file is None:
        for line in lines:
            typer.echo(line)
        return
    try:
        replace_file(file, "".join(f"{line}\n" for line in lines))
    except (OSError, ValueError) as error:
        raise InputError("FILE", str(file), expected=f"a file to write to ({error})") from None
    typer.echo(f"Exported: {len(lines)} entries, head {json.loads(lines[-1])['hash']}", err=True)


@command(ledger_app, "bayesdp ledger import backup.jsonl --ledger restored.db", "import")
def ledger_import(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `ledger export` wrote.")],
    ledger: LedgerOption = "ledger.db",
    seconds: SecondsOption = 1.0,
    as_json: Json = False,
) -> None:
    """Make a new ledger of an export, whose chain and whose readings must hold."""
    from bayesdp.accounting.log.exchange import limited

    opened = _ledger(ledger, seconds)
    try:
        if file.exists() and not file.is_file():
            raise InputError(
                "FILE",
                str(file),
                expected="an export to read: a file, not a folder, a pipe or a device",
                remedy="Write the export to a file first.",
            )
        with file.open(encoding="utf-8") as lines:
            head = opened.restore(limited(lines))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError("FILE", str(file), expected=f"an export to read ({error})") from None
    if as_json:
        print_json({"entries": head.sequence, "head": head.hash})
    else:
        typer.echo(f"Imported: {head.sequence} entries, head {head.hash}")


@command(ledger_app, "bayesdp ledger register heights.toml", "register")
def ledger_register(study: StudyPath, as_json: Json = False) -> None:
    """Add a study's reading (population, adversary, total) to its data set's budget."""
    from bayesdp.release import Study

    loaded = Study.load(study)
    new_ledger = loaded.new_ledger
    reading = loaded.register()
    if new_ledger:
        typer.echo(new_ledger, err=True)
    if as_json:
        print_json({"dataset": loaded.spec.data.dataset, "reading": reading.to_dict()})
    else:
        typer.echo(f"Registered for '{loaded.spec.data.dataset}': {reading.words()}")
