"""The corpus of programs: their texts, and what the checker has to say of each.

A file of `programs/` holds the refusals with one code, `accepted-models.txt` the accepted programs
that observe a model and `accepted-queries.txt` the other accepted ones. An entry is

    === NAME
    the program's text; its first line states what must come out, and why
    --- said
    the whole message, with the place and the caret

Names are sorted and unique across files; no line of a program or message begins with `=== ` or
`--- `. A program is read as the file `NAME.py`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "programs"
LINES = r"((?:(?!=== |--- ).*\n)+)"
ENTRY = re.compile(rf"^=== (\w+)\n{LINES}--- said\n{LINES}", re.MULTILINE)
EXPECTED = re.compile(r"# (ACCEPT|REJECT|UNKNOWN) (\([\d./]+, [\d./]+\)|[a-z-]+): \S")


@dataclass(frozen=True)
class Example:
    """A program of the corpus. `outcome` is ACCEPT, REJECT or UNKNOWN.

    `detail` is the cost "(epsilon, delta)" of an accepted program, else the code of the refusal.
    """

    name: str
    text: str
    said: str
    outcome: str
    detail: str

    @property
    def accepted(self) -> bool:
        """Whether the checker must accept the program."""
        return self.outcome == "ACCEPT"

    @property
    def file(self) -> str:
        """The name of the program's file, as messages show it."""
        return f"{self.name}.py"

    def write(self, folder: Path) -> Path:
        """The program as a file of its own in `folder`."""
        path = folder / self.file
        path.write_text(self.text, encoding="utf-8", newline="")
        return path

    @property
    def home(self) -> Path:
        """The file of the corpus that holds the program."""
        if self.accepted:
            return FOLDER / f"accepted-{'models' if 'observe(' in self.text else 'queries'}.txt"
        return FOLDER / f"{self.detail}.txt"


def examples_in(path: Path) -> list[Example]:
    """The entries of one file of the corpus. Raises `ValueError` for anything else in it."""
    text = path.read_text(encoding="utf-8")
    entries = [(entry[1], entry[2], entry[3]) for entry in ENTRY.finditer(text)]
    if "".join(map(written, entries)) != text:
        raise ValueError(f"{path} holds more than entries of a name, a program and a message")
    examples = []
    for name, program, said in entries:
        expected = EXPECTED.match(program)
        if expected is None:
            raise ValueError(f"the first line of {name} in {path} must state what comes out")
        examples.append(Example(name, program, said, expected[1], expected[2]))
    return examples


def written(entry: tuple[str, str, str]) -> str:
    """An entry as the corpus writes it, from its name, program and message."""
    name, program, said = entry
    return f"=== {name}\n{program}--- said\n{said}"


def change(example: Example, said: str) -> None:
    """Write another message for `example` into the corpus."""
    text = example.home.read_text(encoding="utf-8")
    before, after = (written((example.name, example.text, s)) for s in (example.said, said))
    example.home.write_text(text.replace(before, after), encoding="utf-8")


EXAMPLES = {
    example.name: example
    for path in sorted(FOLDER.glob("*.txt"))
    for example in sorted(examples_in(path), key=lambda example: example.name)
}
ACCEPTED = sorted((e for e in EXAMPLES.values() if e.accepted), key=lambda e: e.name)
REFUSED = sorted((e for e in EXAMPLES.values() if not e.accepted), key=lambda e: e.name)
