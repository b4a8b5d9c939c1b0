"""Reading discrete Bayesian networks from BIF files (Bayesian Interchange Format, 0.15).

A strict reader of the part of the format that networks in circulation use: `network`, `variable`
with `type discrete`, and `probability` with one row for each combination of the parents' values,
`table` for a variable without parents, or `default`. Nothing is executed, nothing is guessed: an
error names the line. `property` entries are skipped.
"""

from __future__ import annotations

import importlib
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from bayesdp.errors import InputError, UnsupportedError, first_names, text_of_file
from bayesdp.populations.base import Rescaling
from bayesdp.populations.directed import pyagrum_node, read_rows
from bayesdp.populations.files import NUMBER

MOST_BYTES = 50_000_000
MOST_CELLS = 5_000_000
"""The largest file, and the largest number of table cells in it."""

_TOKEN = re.compile(
    r"""\s+ | //[^\n]* | /\*.*?\*/
      | (?P<string>"[^"\n]*")
      | (?P<property>\bproperty\b[^;{}]*;)
      | (?P<word>(?:[^\s{}()\[\]|,;"/]|/(?![/*]))+)
      | (?P<mark>[{}()\[\]|,;])""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    line: int
    kind: str

    def is_mark(self, text: str) -> bool:
        """Whether it is this mark, and not a word in quotes of the same letters."""
        return self.kind == "mark" and self.text == text


def read_bif(
    path: Path,
    key: str = "population.bif",
    *,
    reader: str = "own",
    rescaling: Rescaling | None = None,
) -> list[Any]:
    """The nodes of a network: dicts with `name`, `states` (names), `parents` and `table`.

    `table` is nested, one axis for each parent and the last for the node. Rows of rounded numbers
    are rescaled, which `rescaling` notes. `reader="pyagrum"` asks
    the pyAgrum library instead, which knows more formats (it must be installed: the extra
    `networks`). Raises `InputError` with file and line.
    """
    rescaling = rescaling or Rescaling()
    if reader == "pyagrum":
        return _by_pyagrum(path, key, rescaling)
    if reader != "own":
        raise InputError(f"{key}.reader", reader, expected='"own" or "pyagrum"')
    size = path.stat().st_size if path.is_file() else 0
    if size > MOST_BYTES:
        raise InputError(
            key,
            f"{size} bytes",
            expected=f"a file of at most {MOST_BYTES} bytes",
            remedy="Merge states, or leave out nodes that no other depends on.",
        )
    text = text_of_file(path, key)
    return _Reader(text, f"{key} ({path.name}", rescaling).network()


class _Reader:
    """A recursive descent over the tokens; `place` starts the key of every error."""

    def __init__(self, text: str, place: str, rescaling: Rescaling) -> None:
        self.place, self.rescaling = place, rescaling
        self.tokens = list(self._scan(text))
        self.next = 0
        self.states: dict[str, list[str]] = {}
        self.families: dict[str, tuple[list[str], Any]] = {}
        self.cells = 0

    def _scan(self, text: str) -> Iterator[_Token]:
        position, line = 0, 1
        while position < len(text):
            match = _TOKEN.match(text, position)
            if match is None:
                self._fail(line, text[position : position + 20], "a word or one of {}()[]|,;")
            kind = match.lastgroup
            if kind is not None and kind != "property":
                quoted = kind == "string"
                yield _Token(match.group()[1:-1] if quoted else match.group(), line, kind)
            line += match.group().count("\n")
            position = match.end()

    def network(self) -> list[Any]:
        """The variables of the whole file, with their tables."""
        while self.next < len(self.tokens):
            word = self._word("network, variable or probability")
            if word.text == "network":
                self._skip_block()
            elif word.text == "variable":
                self._variable()
            elif word.text == "probability":
                self._probability()
            else:
                self._fail(word.line, word.text, "network, variable or probability")
        if not self.states:
            self._fail(1, "nothing", "at least one variable")
        for name in self.states:
            if name not in self.families:
                self._fail(1, name, "a probability for every variable", "It has none.")
        return [
            {
                "name": name,
                "states": states,
                "parents": self.families[name][0],
                "table": self.families[name][1],
            }
            for name, states in self.states.items()
        ]

    def _variable(self) -> None:
        name = self._word("the name of a variable")
        if name.text in self.states:
            self._fail(name.line, name.text, "a name of its own", "It is declared twice.")
        for mark in ("{", "type", "discrete", "["):
            self._take(mark)
        count = self._word("the number of states")
        self._take("]")
        self._take("{")
        names = self._list("}")
        if count.text != str(len(names)):
            self._fail(count.line, count.text, f"{len(names)}, as there are names of states")
        if len(set(names)) < len(names):
            self._fail(count.line, ", ".join(names), "different names of states")
        self._take(";")
        self._take("}")
        self.states[name.text] = names

    def _probability(self) -> None:
        self._take("(")
        name = self._known_variable()
        parents: list[str] = []
        mark = self._any("| or )")
        if mark.is_mark("|"):
            while True:
                parents.append(self._known_variable().text)
                mark = self._any(", or )")
                if mark.is_mark(")"):
                    break
                if not mark.is_mark(","):
                    self._fail(mark.line, mark.text, ", or )")
        elif not mark.is_mark(")"):
            self._fail(mark.line, mark.text, "| or )")
        if name.text in self.families:
            self._fail(name.line, name.text, "one probability for each variable")
        if len({name.text, *parents}) <= len(parents):
            self._fail(name.line, name.text, "different parents, and not the variable itself")
        self._take("{")
        self.families[name.text] = (parents, self._rows(name, parents))

    def _rows(self, name: _Token, parents: list[str]) -> Any:
        """The nested table of a variable and its parents."""
        width = len(self.states[name.text])
        settings = math.prod(len(self.states[parent]) for parent in parents)
        self.cells += settings * width
        if self.cells > MOST_CELLS:
            self._fail(name.line, name.text, f"tables of at most {MOST_CELLS} cells in all")
        rows: dict[tuple[int, ...], list[float]] = {}
        default: list[float] | None = None
        while not (token := self._any("a row, or }")).is_mark("}"):
            if token.is_mark("("):
                setting = self._setting(token.line, parents)
                if setting in rows:
                    self._fail(token.line, "a row", "each combination of values once")
                rows[setting] = self._numbers(width)
            elif token.text == "default" and default is None:
                default = self._numbers(width)
            elif token.text == "table" and not parents and not rows:
                rows[()] = self._numbers(width)
            elif token.text == "table" and parents:
                self._fail(
                    token.line,
                    "table",
                    "a row for each combination of the parents' values, as in (yes, no) 0.9, 0.1;",
                    "Programs disagree about the order of a whole table.",
                )
            else:
                self._fail(token.line, token.text, "a row such as (yes, no) 0.9, 0.1; or }")
        return self._nested(name, [self.states[p] for p in parents], (), rows, default)

    def _nested(
        self,
        name: _Token,
        left: list[list[str]],
        setting: tuple[int, ...],
        rows: dict[tuple[int, ...], list[float]],
        default: list[float] | None,
    ) -> Any:
        if left:
            return [
                self._nested(name, left[1:], (*setting, value), rows, default)
                for value in range(len(left[0]))
            ]
        row = rows.get(setting, default)
        if row is None:
            self._fail(name.line, name.text, "a row for every combination of its parents' values")
        return row

    def _setting(self, line: int, parents: list[str]) -> tuple[int, ...]:
        values = self._list(")")
        if len(values) != len(parents):
            self._fail(line, ", ".join(values), f"{len(parents)} values, one for each parent")
        setting = []
        for parent, value in zip(parents, values, strict=True):
            if value not in self.states[parent]:
                self._fail(line, value, f"a state of {parent}: {first_names(self.states[parent])}")
            setting.append(self.states[parent].index(value))
        return tuple(setting)

    def _numbers(self, width: int) -> list[float]:
        line = self.tokens[self.next].line if self.next < len(self.tokens) else 0
        words = self._list(";")
        row = []
        for word in words:
            if not NUMBER.fullmatch(word):
                self._fail(line, word, "a probability")
            row.append(float(word))
        if len(row) != width:
            self._fail(line, ", ".join(words), f"{width} probabilities")
        return list(self.rescaling.law(row, f"{self.place}, line {line})"))

    def _list(self, end: str) -> list[str]:
        """Words with commas between them (which may be missing), up to a closing mark."""
        words: list[str] = []
        while True:
            token = self._any(f"a word or {end}")
            if token.is_mark(end):
                return words
            if token.kind == "mark" and not token.is_mark(","):
                self._fail(token.line, token.text, f"a word or {end}")
            if token.kind != "mark":
                words.append(token.text)

    def _skip_block(self) -> None:
        """Skip `network name { ... }`: its content is not used."""
        while not (token := self._any("{")).is_mark("{"):
            if token.kind == "mark":
                self._fail(token.line, token.text, "{")
        self._take("}")

    def _known_variable(self) -> _Token:
        token = self._word("a variable")
        if token.text not in self.states:
            self._fail(token.line, token.text, "a variable that is declared above")
        return token

    def _word(self, expected: str) -> _Token:
        token = self._any(expected)
        if token.kind == "mark":
            self._fail(token.line, token.text, expected)
        return token

    def _take(self, text: str) -> None:
        token = self._any(text)
        if token.text != text or token.kind == "string":
            self._fail(token.line, token.text, text)

    def _any(self, expected: str) -> _Token:
        if self.next >= len(self.tokens):
            line = self.tokens[-1].line if self.tokens else 1
            self._fail(line, "the end of the file", expected)
        self.next += 1
        return self.tokens[self.next - 1]

    def _fail(self, line: int, token: str, expected: str, remedy: str = "") -> NoReturn:
        raise InputError(f"{self.place}, line {line})", token, expected=expected, remedy=remedy)


def _by_pyagrum(path: Path, key: str, rescaling: Rescaling) -> list[Any]:
    """The nodes as pyAgrum reads them."""
    try:
        library: Any = importlib.import_module("pyagrum")
    except ImportError:
        raise UnsupportedError(
            f"{key}.reader",
            "pyagrum",
            expected="an installed pyAgrum",
            remedy="Install the extra: bayesdp[networks]. BIF files need no library.",
        ) from None
    try:
        network = library.loadBN(str(path))
    except (library.GumException, OSError, ValueError) as error:
        raise InputError(
            key, str(path), expected=f"a network that pyAgrum reads ({error})"
        ) from None
    names = [network.variable(node).name() for node in sorted(network.nodes())]
    nodes = [pyagrum_node(network, name) for name in names]
    values = {node["name"]: len(node["states"]) for node in nodes}
    for node in nodes:
        sizes = [values[parent] for parent in node["parents"]]
        place = f"{key} ({path.name}, {node['name']})"
        node["table"] = read_rows(node["table"], sizes, values[node["name"]], place, rescaling)
    return nodes
