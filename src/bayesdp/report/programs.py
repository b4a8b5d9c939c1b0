"""Programs in what people read: at a terminal, in JSON and in the HTML report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from rich.console import Console

from bayesdp.release.programs.answers import (
    ProgramAnswer,
    is_distribution,
)
from bayesdp.release.programs.planned import PlannedProgram
from bayesdp.report.layout import bullet, say, show_table
from bayesdp.report.words import cost_words


@dataclass(frozen=True, slots=True)
class ShownOutput:
    """One output of a program: what it is, its value or mean, and its 95 % interval or error."""

    name: str
    kind: str
    value: str
    interval: str = ""
    unit: str = ""


@dataclass(frozen=True, slots=True)
class ProgramRow:
    """A program that was run: its outputs, and the figures of those that are distributions."""

    name: str
    program: str
    outputs: Sequence[ShownOutput]
    figures: Sequence[str] = ()
    notes: Sequence[str] = ()

    @classmethod
    def from_dict(cls, plain: ProgramRow | Mapping[str, Any]) -> ProgramRow:
        """The row from plain data, as the report's JSON holds it."""
        if isinstance(plain, ProgramRow):
            return plain
        return cls(**{**plain, "outputs": [ShownOutput(**output) for output in plain["outputs"]]})


def program_row(answer: ProgramAnswer) -> ProgramRow:
    """The row of a program for the report."""
    rows, figures, notes = [], [], []
    for part in answer.each():
        output, (value_text, _) = part.value, part.shown()
        rows.append(
            ShownOutput(part.name, part.type, value_text, part.spread_words("\xb1"), part.unit)
        )
        if is_distribution(output):
            figures.append(output.figure(f"{part.name} ({part.unit})" if part.unit else part.name))
            notes += [note for note in getattr(output, "notes", ()) if note not in notes]
    return ProgramRow(answer.query, answer.program, rows, figures, notes)


def plain_program(program: PlannedProgram) -> dict[str, Any]:
    """A planned program as plain data, for `check --json`."""
    verdict = program.verdict
    cost: dict[str, Any] = {"dp_epsilon": program.dp_epsilon}
    if program.dp_rho > 0.0:
        cost["dp_rho"] = program.dp_rho
    return program.describe() | {
        "verdict": verdict.verdict,
        "n": verdict.n,
        **cost,
        "exact_epsilon": str(verdict.dp_epsilon),
        "mechanism_kind": program.kind,
        "columns": {name or program.core.database: field for name, field in program.fields.items()},
        "reads": list(program.reads),
        "releases": list(program.releases),
        "returns": list(program.core.return_types),
        "notes": list(program.notes),
    }


def show_planned(console: Console, programs: Sequence[PlannedProgram]) -> None:
    """Print the programs of a study: verdict, cost, kind, what is released."""
    if not programs:
        return
    show_table(
        console,
        "Programs",
        ("query", "program", "verdict", "DP cost", "kind", "returns"),
        [
            (
                program.spec.name,
                program.shown,
                f"{program.verdict.verdict}, for "
                + ("every n" if program.verdict.n is None else f"n = {program.verdict.n}"),
                cost_words(program.dp_epsilon, program.dp_rho),
                program.kind,
                ", ".join(program.core.return_types),
            )
            for program in programs
        ],
    )
    for program in programs:
        say(
            console,
            f"'{program.spec.name}' releases {'; '.join(program.releases)}. It reads "
            f"{', '.join(program.fields.values())}.",
        )
        for note in program.notes:
            bullet(console, f"{note}.")


def show_answers(console: Console, answers: Sequence[ProgramAnswer]) -> None:
    """Print what programs returned."""
    if not answers:
        return
    rows = [program_row(answer) for answer in answers]
    show_table(
        console,
        "Returned by programs",
        ("query", "what", "mean or value", "95 % interval or error", "unit"),
        [
            (output.name, output.kind, output.value, output.interval, output.unit)
            for row in rows
            for output in row.outputs
        ],
    )
    for note in dict.fromkeys(note for row in rows for note in row.notes):
        say(console, note)


def results_html(programs: Sequence[ProgramRow]) -> str:
    """The programs' part of the released results, as HTML."""
    if not programs:
        return ""
    rows = "".join(
        f'<tr><th scope="row">{escape(output.name)}</th><td>{escape(output.kind)}</td>'
        f'<td class="n">{escape(output.value)}</td><td class="n">{escape(output.interval)}</td>'
        f"<td>{escape(output.unit)}</td><td><code>{escape(program.program)}</code></td></tr>"
        for program in programs
        for output in program.outputs
    )
    # Inside a page an SVG element needs no namespace, and a report names no outside address.
    space = ' xmlns="http://www.w3.org/2000/svg"'
    curves = "".join(
        figure.replace(space, "") for program in programs for figure in program.figures
    )
    notes = "".join(f"<p>{escape(note)}</p>" for program in programs for note in program.notes)
    figure = (
        f"<figure>{curves}<figcaption>What is known after the release: the density, its mean (dot) "
        "and the interval that holds the value with probability 95 %, given the program's model."
        "</figcaption></figure>"
        if curves
        else ""
    )
    return (
        f"<h3>Returned by programs</h3>{figure}"
        '<div class="scroll"><table><caption>The same in numbers</caption>'
        '<thead><tr><th scope="col">Query</th><th scope="col">What</th>'
        '<th scope="col" class="n">Mean or value</th>'
        '<th scope="col" class="n">95 % interval or error</th><th scope="col">Unit</th>'
        f'<th scope="col">Program</th></tr></thead><tbody>{rows}</tbody></table></div>{notes}'
    )
