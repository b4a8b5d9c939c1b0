"""Write docs/theory.md from docs/theory.md.in and the docstrings beside the code.

A statement, its hypotheses, proof and source stand once: in the docstring of the file, function or
class that rests on them, from its first heading or bold label on. A line
`<!-- theorem: FILE (TEST ...) -->` or `<!-- theorem: FILE:NAME (TEST ...) -->` of docs/theory.md.in
is replaced by them; FILE is inside src/bayesdp, or begins with `tests/` where only an oracle of the
tests computes what is stated. The TESTs, at least one, are files that hold the code against
something else. `<!-- theorems by name -->` is replaced by links to the sections that state the
theorems, `<!-- statements with their code and tests -->` by a table of them all.
After a change: `python tools/make_theory.py`. With `--check` nothing is written, and the status is
1 where the page is stale. A marker without a test, or with a file that is not there, is an error.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TEMPLATE = ROOT / "docs" / "theory.md.in"
PAGE = ROOT / "docs" / "theory.md"
THEOREM = re.compile(r"^<!-- theorem: ([^\s:]+)(?::(\w+))?(?: \(([^)]*)\))? -->$", re.MULTILINE)
BY_NAME = "<!-- theorems by name -->"
INDEX = "<!-- statements with their code and tests -->"
BEGINS = re.compile(r"^(?:#|\*\*)", re.MULTILINE)
"""Where the statement begins in a docstring: at its first heading or bold label."""
LABEL = re.compile(r"\*\*(?:\([a-z]\) )?(.+?)\.?\*\*")
HEADING = re.compile(r"^#{2,4} ((?:(\d+(?:\.\d+)?[a-z]?)\.?|([a-z]\d?)\.) .*)$", re.MULTILINE)
"""A numbered heading: `## 3. ...`, `### 3.7b ...`, or `#### c. ...` inside the section above it."""
STATED = re.compile(r"^\*\*Statement\*\* \(theorem `([a-z-]+)`\)\.", re.MULTILINE)
GENERATED = (
    "<!-- Written by tools/make_theory.py from theory.md.in and the docstrings that it names: "
    "change those, not this. -->"
)


@dataclass(frozen=True)
class Statement:
    """What a marker names: the `file` (see `place_of`), the `name` in it, and its `tests`."""

    file: str
    name: str
    tests: tuple[str, ...]

    @classmethod
    def of(cls, marker: re.Match[str]) -> Statement:
        """The statement of a marker. Raises `ValueError` for no test, or one that isn't there."""
        tests = tuple((marker[3] or "").split())
        if not tests:
            raise ValueError(f"{marker[0]} names no test: add (tests/...) to it in {TEMPLATE.name}")
        for test in tests:
            if not (ROOT / test).is_file():
                raise ValueError(f"{marker[0]}: there is no {test}")
        return cls(marker[1], marker[2] or "", tests)

    @property
    def text(self) -> str:
        """The statement with its proof."""
        return proof(self.file, self.name)

    @property
    def links(self) -> str:
        """Cells of a table: the code, with the kernel's own rule of a theorem, and the tests."""
        code = f"[{self.file}](../{place_of(self.file)})"
        code += f", `{self.name}`" if self.name else ""
        rule = f"kernel/rules/{Path(self.file).name}"
        if self.file.startswith("theorems/") and (ROOT / "src" / "bayesdp" / rule).is_file():
            code += f"; [{rule}](../src/bayesdp/{rule})"
        return f"{code} | " + ", ".join(f"[{test}](../{test})" for test in self.tests)


def statements() -> list[Statement]:
    """What the template's markers name, in their order."""
    return [Statement.of(marker) for marker in THEOREM.finditer(template())]


def template() -> str:
    """The page with its markers."""
    return TEMPLATE.read_text(encoding="utf-8")


def place_of(file: str) -> str:
    """Where a `file` of a marker is in the repository: inside src/bayesdp, or below tests/."""
    return file if file.startswith("tests/") else f"src/bayesdp/{file}"


def proof(file: str, name: str = "") -> str:
    """The statement in the docstring of a marker's `file`, or of a `name` in it.

    Raises `ValueError` where there is none.
    """
    place = ROOT / place_of(file)
    if not place.is_file():
        raise ValueError(f"there is no {place_of(file)}")
    tree = ast.parse(place.read_text(encoding="utf-8"))
    named = (
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name
    )
    home = next(named, None) if name else tree
    docstring = None if home is None else ast.get_docstring(home)
    begins = BEGINS.search(docstring or "")
    if docstring is None or begins is None:
        named_so = f"{file}:{name}" if name else file
        raise ValueError(f"{named_so} has no docstring with a statement and its proof")
    return docstring[begins.start() :]


def page() -> str:
    """The page as it has to be."""
    text = THEOREM.sub(lambda marker: Statement.of(marker).text, template())
    listed = sections(text)
    text = text.replace(BY_NAME, by_name(listed)).replace(INDEX, index(listed))
    return f"{GENERATED}\n\n{text}"


def index(listed: list[Section]) -> str:
    """A table of all statements: section, what is stated, its code and its tests.

    `listed` are the sections of the page. A statement has a row for each section that it begins,
    or one in the section that it stands in.
    """
    rows = ["| Section | Statement | Proof and code | Tests |", "|---|---|---|---|"]
    places = iter(listed)
    section = listed[0]
    for piece in _pieces(template()):
        text = piece.text if isinstance(piece, Statement) else piece
        begun = [next(places) for _ in HEADING.finditer(text)]
        section = begun[-1] if begun else section
        if isinstance(piece, Statement):
            stated = STATED.findall(text)
            titled = [(each, each.title(stated)) for each in begun]
            titled = titled or [(section, _title(text, section))]
            rows += [f"| {each.link} | {title} | {piece.links} |" for each, title in titled]
    return "\n".join(rows)


def _pieces(text: str) -> Iterator[Statement | str]:
    """The template as texts and statements, in their order."""
    end = 0
    for marker in THEOREM.finditer(text):
        yield text[end : marker.start()]
        yield Statement.of(marker)
        end = marker.end()
    yield text[end:]


def _title(text: str, section: Section) -> str:
    """What a statement inside a section is called: by its label or heading, else as the section."""
    label = LABEL.match(text)
    if label and label[1] == "Statement":
        return section.title(STATED.findall(text))
    return label[1] if label else text.partition("\n")[0].lstrip("# ")


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

    @property
    def link(self) -> str:
        """The number as a link."""
        return f"[{self.number}](#{self.anchor})"

    def title(self, stated: Collection[str]) -> str:
        """The heading without its number, and those of its theorems that are `stated` in a text."""
        names = "".join(f", `{name}`" for name in self.theorems if name in stated)
        return self.heading.partition(" ")[2] + names


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
