"""What is wrong with a program, where, and what would be accepted."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from unicodedata import category

from bayesdp.errors import BayesdpError
from bayesdp.programs.ir import Where

CODES = {
    "syntax": "the file is not Python",
    "module": "a program file holds imports from bayesdp.programs, constants, types, records, "
    "helpers and programs only",
    "import": "an import of anything but bayesdp.programs",
    "name": "a name that is not known here",
    "construct": "a construct that programs don't have",
    "attribute": "an attribute other than a column of a row or a database's size",
    "annotation": "a type that the language doesn't have",
    "signature": "a program takes one database and public keyword arguments",
    "arguments": "a call with the wrong arguments",
    "type": "a value of another type than is needed",
    "private-control": "control flow that depends on private data",
    "private-output": "a private value where only released or public ones may stand",
    "private-parameter": "a parameter of a release that depends on private data",
    "return": "a program ends with its one return",
    "exception": "an exception as a channel",
    "effect": "an effect outside the program",
    "bounds": "a value without finite bounds",
    "recursion": "a helper that calls itself",
    "static": "a value that must be known before the data is read",
    "division": "a division by something that may be zero",
    "nonlinear": "a product or quotient of private values",
    "sensitivity": "an asserted sensitivity below the true one",
    "noise": "an asserted noise scale below what is needed",
    "budget": "a declared budget below the derived cost",
    "prior": "a prior that the likelihood has no exact posterior for",
    "precondition": "a precondition that nothing satisfies",
    "size": "a program larger than the checker takes",
    "unproved": "something that the checker could not prove",
    "kernel": "a cost that the kernel does not confirm",
}
"""Every kind of diagnostic."""


WIDEST = 160


def unseen(letter: str) -> bool:
    """Whether a character shows nothing, or changes how others are shown."""
    return category(letter) in ("Cc", "Cf", "Zl", "Zp") and letter not in "\t\f"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A message about one place of a source: what is wrong, and what would be accepted."""

    code: str
    message: str
    accepted: str
    where: Where | None = None
    source_line: str = ""
    file: str = ""

    @property
    def line(self) -> int | None:
        """The line of the source, from 1."""
        return None if self.where is None else self.where.line

    def text(self) -> str:
        """The message with the source line and a caret under the place."""
        message = f"{self.message} {self.accepted}".strip()
        if self.where is None:
            return f"{self.file}: {message}" if self.file else message
        at = f"{self.file or 'program'}:{self.where.line}:{self.where.column}"
        if not self.source_line:
            return f"{at}: {message}"
        source_line = "".join(
            "\ufffd" if unseen(letter) else letter for letter in self.source_line.expandtabs(4)
        )
        before = len(self.source_line[: self.where.column - 1].expandtabs(4))
        width = max(1, min(self.where.end, len(self.source_line) + 1) - self.where.column)
        if len(source_line) > WIDEST:  # a window on the place
            start = max(0, min(before - 20, len(source_line) - WIDEST))
            source_line, before = f"...{source_line[start : start + WIDEST]}...", before - start + 3
            width = min(width, len(source_line) - before)
        return f"{at}: {message}\n    {source_line}\n    {' ' * before}{'^' * width}"


class ProgramError(BayesdpError):
    """A program that the language refuses. `diagnostic` has the place and the remedy."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.text())
        self.diagnostic = diagnostic


def place(node: ast.AST) -> Where:
    """The place of a node in the source. Lines and columns count from 1, columns in characters."""
    line = getattr(node, "lineno", 1)
    start = getattr(node, "col_offset", 0)
    end = getattr(node, "end_col_offset", None)
    if getattr(node, "end_lineno", line) != line or end is None:
        end = start + 1
    return Where(line, start + 1, end + 1)


def written(node: ast.AST) -> str:
    """The source of a node, shortened for a message."""
    text = ast.unparse(node)
    return text if len(text) <= 60 else text[:57] + "..."


def refuse(
    code: str, node: ast.AST | Where | None, message: str, accepted: str = ""
) -> ProgramError:
    """The `ProgramError` about a node, for the caller to raise."""
    assert code in CODES, code
    where = node if isinstance(node, Where) or node is None else place(node)
    return ProgramError(Diagnostic(code, message, accepted, where))
