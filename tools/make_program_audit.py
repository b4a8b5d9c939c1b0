"""Write the table of docs/program-audit.md: what the falsifier finds on every accepted program.

Run `python -m tools.make_program_audit` after changing programs, checker or falsifier; a test
compares rows. It takes about a minute.
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
N_MAX, MOST_PAIRS = 4, 3000
HEAD = (
    "| program | cost | true loss / cost | true move / claimed | pairs | all |",
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
    whole = "yes" if actual.complete and not actual.skipped else "no"
    return (
        f"| `{label}` | {cost} | {actual.tightness:.3f} | {moved:.3f} | {actual.pairs} | {whole} |"
    )


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
