"""`bayesdp demo`: two studies of real correlated records, from price to report."""

from __future__ import annotations

import shutil
import tempfile
from importlib.resources import as_file, files
from pathlib import Path

from rich.console import Console

from bayesdp.release.study import Study
from bayesdp.report.html import write_report
from bayesdp.report.layout import say
from bayesdp.report.ledgers import show_ledger
from bayesdp.report.output import check_target
from bayesdp.report.sections import study_section
from bayesdp.report.studies import show_check, show_release

STUDIES = ("galton", "wheeze")

WARNING = (
    "The populations of this demo are estimated from the very data that it protects: good for a "
    "demonstration, wrong for a release. A real curator takes them from public or past data, or "
    "fits them privately at a cost."
)


def run_demo(console: Console, report: Path) -> None:
    """Release both studies with a fresh ledger in a temporary folder, and write the report."""
    check_target(report, "report")
    say(console, WARNING, style="bold")
    with tempfile.TemporaryDirectory(prefix="bayesdp-demo-") as folder:
        with as_file(files("bayesdp") / "demo_data") as source:
            shutil.copytree(source, folder, dirs_exist_ok=True)
        sections = []
        for name in STUDIES:
            study = Study.load(Path(folder) / f"{name}.toml")
            console.rule(f"{name}: the price, before any data are read")
            show_check(console, study.check())
            console.rule(f"{name}: the release")
            release = study.release()
            show_release(console, release, study.spec.budget.notion)
            sections.append(study_section(study, release, ""))
        console.rule("the ledger")
        show_ledger(console, study.ledger().show())
    write_report(report, sections)
    say(console, f"Wrote {report}: open it in a browser.")
