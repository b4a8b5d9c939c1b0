"""Write the table of docs/program-audit.md: what the falsifier finds on every accepted program.

Run `python -m tools.make_program_audit` after changing programs, checker or falsifier; a test
compares rows. It takes about a minute.

What *all* means in the last column: all pairs of neighbouring databases of 1 to 4 rows that can be
made of the witness rows, which are all combinations of the columns' witnesses (the page says which
those are). Rows that contribute the same to every release stand for each other, and so do tables
with the same totals (`bayesdp.programs.falsify.contributions`); where a program releases sums only,
a record moves them by the same in every table, and tables of 1 and of 4 rows stand for those of 2
and 3 as well. A row of a program of persons is what the program's folds make of a person. Where a
program requires more than 4 rows, the databases are those of the fewest rows that it admits and of
up to three more, and the cell says so. A cell that isn't "yes" says what was left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

from bayesdp.programs.check.checker import check
from bayesdp.programs.falsify import Findings, falsify
from bayesdp.programs.ir import Program
from bayesdp.programs.source.lower import lower
from bayesdp.programs.source.syntax.source_file import read_text
from tests.golden.corpus import ACCEPTED

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "program-audit.md"
EXAMPLES = ROOT / "docs" / "examples" / "programs"
BEGIN, END = "<!-- from tools/make_program_audit.py -->", "<!-- end of the table -->"
N_MAX, MOST_PAIRS = 4, 40_000
HEAD = (
    "| program | cost | true loss / cost | true move / claimed | pairs | all to n = 4 |",
    "|---|---|---|---|---|---|",
)


def programs() -> Iterator[tuple[str, Program]]:
    """Every program that is to be accepted, by file and name."""
    texts = [(path.stem, path.read_text("utf-8")) for path in sorted(EXAMPLES.glob("*.py"))]
    for stem, text in [*texts, *((example.name, example.text) for example in ACCEPTED)]:
        source = read_text(text)
        for name in source.programs:
            yield f"{stem}:{name}", lower(source, name)


def audited(program: Program) -> Findings:
    """The findings, at the sizes that the table was made with."""
    return falsify(program, check(program), N_MAX, MOST_PAIRS)


def row(label: str, program: Program) -> str:
    """One line of the table."""
    verdict, actual = check(program), audited(program)
    assert verdict.verdict == "ACCEPTED", (label, verdict.reason)
    assert not actual.excess, (label, actual.excess)
    cost = shown(verdict.dp_epsilon)
    if verdict.dp_delta:
        cost += f", delta {shown(verdict.dp_delta)}"
    moved = actual.largest("sensitivity", "distance", "answer")
    return (
        f"| `{label}` | {cost} | {actual.tightness:.3f} | {moved:.3f} | {actual.pairs} "
        f"| {completeness(actual)} |"
    )


def completeness(actual: Findings) -> str:
    """Whether all databases were tried, of which sizes if not of 1 to 4, or what was left out."""
    left_out = sorted(actual.left_out) + [f"what `{name}` shows" for name in sorted(actual.skipped)]
    if left_out:
        return f"without some of: {', '.join(left_out)}"
    least, most = actual.sizes[0], actual.sizes[-1]
    return "yes" if most <= N_MAX else f"yes, n = {least} to {most}"


def shown(value: Fraction) -> str:
    """A cost in few characters."""
    return f"{float(value):.6g}"


def table() -> str:
    """The whole table."""
    return "\n".join([*HEAD, *(row(label, program) for label, program in programs())])


def stored() -> dict[str, str]:
    """The rows of the page, by program."""
    text = PAGE.read_text(encoding="utf-8").split(BEGIN)[1].split(END)[0]
    lines = [part for part in text.strip().split("\n") if part.startswith("| `")]
    return {line.split("`")[1]: line for line in lines}


def main() -> None:
    """Write the page."""
    text = PAGE.read_text(encoding="utf-8")
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n\n{table()}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
