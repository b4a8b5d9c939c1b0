"""Write docs/theory.md from docs/theory.md.in and the theorems' docstrings.

A theorem's statement, hypotheses, proof and source stand once: in the docstring of its file, below
the first line. A line `<!-- theorem: theorems/NAME.py -->` of docs/theory.md.in is replaced by
them, and `<!-- theorems by name -->` by links to the sections that state the theorems. After a
change: `python tools/make_theory.py`. With `--check` nothing is written, and the status is 1 where
the page is stale.
"""

from __future__ import annotations

import ast
import re
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TEMPLATE = ROOT / "docs" / "theory.md.in"
PAGE = ROOT / "docs" / "theory.md"
THEOREM = re.compile(r"^<!-- theorem: (\S+) -->$", re.MULTILINE)
BY_NAME = "<!-- theorems by name -->"
HEADING = re.compile(r"^#{2,4} ((?:(\d+(?:\.\d+)?[a-z]?)\.?|([a-z]\d?)\.) .*)$", re.MULTILINE)
"""A numbered heading: `## 3. ...`, `### 3.7b ...`, or `#### c. ...` inside the section above it."""
STATED = re.compile(r"^\*\*Statement\*\* \(theorem `([a-z-]+)`\)\.", re.MULTILINE)
GENERATED = (
    "<!-- Written by tools/make_theory.py from theory.md.in and the docstrings in "
    "src/bayesdp/theorems/: change those, not this. -->"
)


def proof(file: str) -> str:
    """What the docstring of a file says below its first line. `file` is inside src/bayesdp."""
    text = (ROOT / "src" / "bayesdp" / file).read_text(encoding="utf-8")
    docstring = ast.get_docstring(ast.parse(text)) or ""
    _, _, below = docstring.partition("\n\n")
    if not below:
        raise ValueError(f"{file} has no docstring with a statement and its proof")
    return below


def page() -> str:
    """The page as it has to be."""
    template = TEMPLATE.read_text(encoding="utf-8")
    text = THEOREM.sub(lambda marker: proof(marker[1]), template)
    return f"{GENERATED}\n\n{text.replace(BY_NAME, by_name(sections(text)))}"


def by_name(listed: list[Section]) -> str:
    """Each theorem with a link to its section, by name."""
    homes = {name: section for section in listed for name in section.theorems}
    links = [f"[`{name}`](#{homes[name].anchor}) {homes[name].number}" for name in sorted(homes)]
    return "Theorems by name:\n" + " ·\n".join(links) + "."


@dataclass(frozen=True)
class Section:
    """A numbered section: its number as `3.7b` or `3.8 c`, its heading, the theorems it states."""

    number: str
    heading: str
    theorems: tuple[str, ...] = ()

    @property
    def anchor(self) -> str:
        """The heading as code hosts spell it in links."""
        return re.sub(r"[^\w\- ]", "", self.heading.lower()).replace(" ", "-")


def sections(text: str) -> list[Section]:
    """The numbered sections in their order.

    A section ends at the next numbered heading. A theorem has its home where the statement names it
    and nothing else: `(theorem `name`, order k)` is a further part of a theorem stated before.
    """
    headings = list(HEADING.finditer(text))
    ends = [heading.start() for heading in headings[1:]] + [len(text)]
    listed, above = [], ""
    for heading, end in zip(headings, ends, strict=True):
        title, number, letter = heading.groups()
        above = number or above
        stated = tuple(STATED.findall(text[heading.end() : end]))
        listed.append(Section(f"{above} {letter}" if letter else number, title, stated))
    return listed


def main(arguments: list[str]) -> int:
    """Write the page, or with `--check` compare it."""
    made = page()
    if arguments == ["--check"]:
        if PAGE.read_text(encoding="utf-8") == made:
            return 0
        print("docs/theory.md is stale: run python tools/make_theory.py", file=sys.stderr)
        return 1
    PAGE.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
