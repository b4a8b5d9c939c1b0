"""`check`, `release` and `demo`: studies, priced and released."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bayesdp.cli.common import (
    Json,
    StudyPath,
    app,
    check_figure,
    command,
    console,
    print_json,
    say,
    write_figure,
)
from bayesdp.errors import BudgetExceededError, InputError

if TYPE_CHECKING:
    from bayesdp.release import Study
    from bayesdp.release.drawing.stored import StoredRelease
    from bayesdp.release.results.release import Release


@command(app, "bayesdp check heights.toml --target 0.1,0.3,1,3")
def check(
    study: StudyPath,
    data: Annotated[
        bool, typer.Option("--data", help="Hold the table against the study (for the curator).")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Also what every theorem says of the level.")
    ] = False,
    target: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LEVELS",
            help="Several levels side by side, such as 0.1,0.3,1,3, to choose one.",
        ),
    ] = None,
    stress: Annotated[
        bool,
        typer.Option("--stress", help="The same noise under stronger dependence than declared."),
    ] = False,
    figure: Annotated[
        Path | None, typer.Option(metavar="FILE", help="With --stress: also draw it (SVG).")
    ] = None,
    as_json: Json = False,
) -> None:
    """Price a study without reading data: costs, noise, errors, what is left of the budget."""
    from bayesdp.release import Study

    loaded = Study.load(study)
    if figure is not None and not stress:
        raise InputError(
            "--figure",
            str(figure),
            expected="--stress beside it: the figure is of the stress test",
        )
    if stress:
        _refuse_with("--stress", {"--data": data, "--verbose": verbose, "--target": bool(target)})
        _stress(loaded, figure, as_json)
        return
    if target:
        _refuse_with("--target", {"--data": data, "--verbose": verbose})
        _sweep(loaded, ",".join(target), as_json)
        return
    _price(loaded, data, verbose, as_json)


def _price(study: Study, data: bool, verbose: bool, as_json: bool) -> None:
    """The price of a study; with `data` also the faults of its table. Exits with 1 if refused."""
    findings, hints = None, list[str]()
    if data:
        findings = [
            {"code": finding.code, "message": finding.message} for finding in study.inspect()
        ]
        hints = [] if findings else study.hints()
    try:
        answer = study.check()
    except BudgetExceededError:
        if not as_json:
            from bayesdp.report.studies import show_proposals

            show_proposals(console(), study.what_would_help())
        raise
    inaccurate = answer.inaccurate
    refused = answer.preview.refusal is not None or bool(findings)
    if as_json:
        from bayesdp.report.plain import check_document, proposals_document
        from bayesdp.report.studies import warnings

        document = check_document(answer) | {"warnings": warnings(answer, study.spends())}
        if inaccurate:
            document["what_would_help"] = proposals_document(study.what_would_help())
        if findings is not None:
            document |= {"findings": findings, "hints": hints}
        print_json(document)
    else:
        from bayesdp.report.studies import show_check, show_proposals

        for finding in findings or ():
            say(f"Curator only: {finding['message']}")
        for hint in hints:
            say(f"Curator only: {hint}")
        show_check(console(), answer, before=study.spends(), verbose=verbose)
        for sentence in filter(None, (study.new_ledger, study.uncounted, study.extract)):
            say(sentence)
        if verbose and inaccurate:
            show_proposals(console(), study.what_would_help())
        if findings == []:
            say("The table is as the study declares it.")
    if refused:
        raise typer.Exit(1)


def _refuse_with(option: str, others: Mapping[str, bool]) -> None:
    """Refuse options that say nothing beside this one."""
    for other, value in others.items():
        if value:
            raise InputError(
                other,
                shown=False,
                expected=f"nothing beside {option}",
                remedy=f"Run the command again, without {option}.",
            )


def _stress(study: Study, figure: Path | None, as_json: bool) -> None:
    """The study's noise under other populations, as a table or JSON, and as a figure."""
    if figure is not None:
        check_figure(figure, reserved=study.ledger_files)
    stressed = study.stress()
    if as_json:
        from bayesdp.report.plain import stress_document

        print_json(stress_document(study.spec.data.dataset, stressed))
    else:
        from bayesdp.report.studies import show_stress

        show_stress(console(), stressed)
    if figure is not None:
        from bayesdp.report.figures import stress_levels

        write_figure(figure, stress_levels(stressed))


def _sweep(study: Study, targets: str, as_json: bool) -> None:
    """The study at several levels; status 1 where none of them can be released."""
    try:
        levels = [float(part) for part in targets.split(",")]
    except ValueError:
        expected = "levels with commas between them, such as 0.1,0.3,1,3"
        raise InputError("--target", targets, expected=expected) from None
    try:
        swept = study.sweep(levels)
    except InputError as error:
        raise (error.at("--target") if error.key.startswith("targets") else error) from None
    if as_json:
        from bayesdp.report.plain import sweep_document

        print_json(sweep_document(study.spec.data.dataset, swept))
    else:
        from bayesdp.report.studies import show_sweep

        show_sweep(console(), swept)
    if all(row.refusal for row in swept):
        raise typer.Exit(1)


@command(app, "bayesdp release heights.toml --report report.html")
def release(
    study: StudyPath,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write an HTML report.")
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Where to write the certificate. By default beside STUDY, under a name such as "
            "heights-e59eb7cd.certificate.json, which is printed.",
        ),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="With the same key again, print what the ledger has stored, at no cost. Without a "
            "key each release is another one.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Release the study's numbers once: debit the budget durably, then draw the noise."""
    from bayesdp.release import Study
    from bayesdp.release.drawing.repeats import certificate_name
    from bayesdp.release.drawing.stored import StoredRelease

    loaded = Study.load(study)
    _check_outputs(loaded, certificate, report)
    warnings: list[str] = []

    def warn(text: str) -> None:
        warnings.append(text)
        say(text)

    new_ledger = loaded.new_ledger
    if key is None:  # whoever types the command again means it
        result: Release | StoredRelease = loaded.release(again=True, warn=warn)
    else:
        result = loaded.release_once(key, warn=warn)
    path = certificate or study.with_name(certificate_name(study.name, result.id))
    if isinstance(result, StoredRelease):
        _show_stored(result, path, report, as_json)
        return
    if new_ledger:
        say(new_ledger)
    saved = write(path, result.certificate.to_json() + "\n")
    if report is not None:
        _write_report(report, loaded, result, saved)
    _show_released(result, loaded.spec.budget.notion, warnings, as_json)
    if saved and not as_json:
        say(f"Certificate: {saved}")


def _write_report(report: Path, study: Study, result: Release, saved: str) -> None:
    """The report of a release, whose certificate was `saved`; what it released is shown anyway."""
    from bayesdp.report.html import write_report
    from bayesdp.report.sections import study_section

    try:
        write_report(report, [study_section(study, result, saved)])
    except (OSError, ValueError) as error:
        say(f"The report could not be written: {error}")


def _show_released(result: Release, notion: str, warnings: list[str], as_json: bool) -> None:
    """Print a release; `warnings` are those that were shown before it."""
    from bayesdp.report.studies import release_warnings, show_release

    if not as_json:
        show_release(console(), result, notion, warnings)
        return
    print_json(result.to_dict())
    for warning in release_warnings(result):
        say(warning)


def _show_stored(
    stored: StoredRelease, certificate: Path, report: Path | None, as_json: bool
) -> None:
    """Print a stored release, and write its `certificate`; it has no `report`."""
    saved = write(certificate, stored.certificate.to_json() + "\n")
    if report is not None:
        typer.echo("No report was written: it is made of a release only, when it is new.", err=True)
    if as_json:
        print_json(stored.to_dict())
    else:
        from bayesdp.report.layout import say

        for line in str(stored).splitlines():
            say(console(), line)
    if saved:
        typer.echo(f"Certificate: {saved}", err=True)


def _check_outputs(study: Study, certificate: Path | None, report: Path | None) -> None:
    """Refuse files that must not be overwritten, before anything is spent."""
    from bayesdp.report.output import check_target

    reserved = study.ledger_files
    if certificate is not None:
        check_target(certificate, "certificate", reserved=reserved)
        reserved = (*reserved, certificate)
    if report is not None:
        check_target(report, "report", reserved=reserved)


def write(path: Path, text: str) -> str:
    """Write a file, and return its name; where that fails, report it and return an empty text.

    The release is in the ledger already.
    """
    from bayesdp.report.output import replace_file

    try:
        replace_file(path, text)
    except (OSError, ValueError) as error:
        say(f"The certificate could not be written ({error}); the ledger has it.")
        return ""
    return str(path)


@command(app, "bayesdp demo")
def demo(
    report: Annotated[Path, typer.Option(metavar="FILE", help="Where to write the report.")] = Path(
        "demo-report.html"
    ),
) -> None:
    """Release two studies of real correlated records, and write a report."""
    from bayesdp.report.demo import run_demo

    run_demo(console(), report)
