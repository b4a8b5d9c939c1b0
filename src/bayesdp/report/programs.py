"""Programs in what people read: at a terminal, in JSON and in the HTML report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from rich.console import Console
from rich.markup import escape as marked
from rich.table import Table

from bayesdp.accounting.rounded import up
from bayesdp.release.program_results import (
    ProgramAnswer,
    interval_words,
    is_distribution,
    number_words,
)
from bayesdp.release.programs import PlannedProgram


@dataclass(frozen=True, slots=True)
class OutputRow:
    """One output of a program: what it is, its value or mean, and its 95 % interval if any."""

    name: str
    kind: str
    value: str
    interval: str = ""


@dataclass(frozen=True, slots=True)
class ProgramRow:
    """A program that was run: its outputs, and the figures of those that are distributions."""

    name: str
    program: str
    outputs: Sequence[OutputRow]
    figures: Sequence[str] = ()
    notes: Sequence[str] = ()

    @classmethod
    def from_dict(cls, plain: ProgramRow | Mapping[str, Any]) -> ProgramRow:
        """The row from plain data."""
        if isinstance(plain, ProgramRow):
            return plain
        return cls(**{**plain, "outputs": [OutputRow(**one) for one in plain["outputs"]]})


def program_row(answer: ProgramAnswer) -> ProgramRow:
    """What the report says of one program."""
    rows, figures, notes = [], [], []
    for (name, output), kind in zip(answer.named(), answer.types, strict=True):
        if is_distribution(output):
            shown = interval_words(output.interval(0.95))
            rows.append(OutputRow(name, kind, number_words(output.mean), shown))
            figures.append(output.figure(name))
            notes += [note for note in getattr(output, "notes", ()) if note not in notes]
        else:
            rows.append(OutputRow(name, kind, number_words(output)))
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
        "columns": {name or program.core.database: one for name, one in program.fields.items()},
        "reads": list(program.reads),
        "releases": list(program.releases),
        "returns": list(program.core.return_types),
        "notes": list(program.notes),
    }


def show_planned(console: Console, programs: Sequence[PlannedProgram]) -> None:
    """The programs of a study: verdict, cost, kind, what is released."""
    if not programs:
        return
    table = _table("Programs", "query", "program", "verdict", "DP cost", "kind", "returns")
    for one in programs:
        sizes = "every n" if one.verdict.n is None else f"n = {one.verdict.n}"
        table.add_row(
            marked(one.spec.name),
            marked(one.shown),
            f"{one.verdict.verdict}, for {sizes}",
            cost_words(one.dp_epsilon, one.dp_rho),
            one.kind,
            ", ".join(one.core.return_types),
        )
    console.print(table)
    for one in programs:
        console.print(
            f"'{marked(one.spec.name)}' releases {marked('; '.join(one.releases))}. It reads "
            f"{marked(', '.join(one.fields.values()))}.",
            highlight=False,
        )
        for note in one.notes:
            console.print(f"  - {marked(note)}.", highlight=False)


def show_answers(console: Console, answers: Sequence[ProgramAnswer]) -> None:
    """What programs returned."""
    if not answers:
        return
    table = _table("Returned by programs", "query", "what", "mean or value", "95 % interval")
    notes: list[str] = []
    for answer in answers:
        row = program_row(answer)
        for output in row.outputs:
            table.add_row(marked(output.name), output.kind, output.value, output.interval)
        notes += [note for note in row.notes if note not in notes]
    console.print(table)
    for note in notes:
        console.print(marked(note), highlight=False)


def cost_words(pure: float, rho: float) -> str:
    """Both parts of a program's cost, rounded up."""
    parts = [up(pure)] if pure > 0.0 else []
    return " and ".join([*parts, *([f"rho = {up(rho)}"] if rho > 0.0 else [])])


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", header_style="")
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def results_html(programs: Sequence[ProgramRow]) -> str:
    """The programs' part of the released results."""
    if not programs:
        return ""
    rows = "".join(
        f'<tr><th scope="row">{escape(output.name)}</th><td>{escape(output.kind)}</td>'
        f'<td class="n">{escape(output.value)}</td><td class="n">{escape(output.interval)}</td>'
        f"<td><code>{escape(program.program)}</code></td></tr>"
        for program in programs
        for output in program.outputs
    )
    # Inside a page an SVG element needs no namespace, and a report names no outside address.
    space = ' xmlns="http://www.w3.org/2000/svg"'
    drawn = "".join(one.replace(space, "") for program in programs for one in program.figures)
    notes = "".join(f"<p>{escape(note)}</p>" for program in programs for note in program.notes)
    figure = (
        f"<figure>{drawn}<figcaption>What is known after the release: the density, its mean (dot) "
        "and the interval that holds the value with probability 95 %, given the program's model."
        "</figcaption></figure>"
        if drawn
        else ""
    )
    return (
        f"<h3>Returned by programs</h3>{figure}"
        '<div class="scroll"><table><caption>The same in numbers</caption>'
        '<thead><tr><th scope="col">Query</th><th scope="col">What</th>'
        '<th scope="col" class="n">Mean or value</th><th scope="col" class="n">95 % interval</th>'
        f'<th scope="col">Program</th></tr></thead><tbody>{rows}</tbody></table></div>{notes}'
    )
