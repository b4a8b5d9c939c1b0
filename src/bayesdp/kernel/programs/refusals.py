"""How the rules of programs refuse: with a code for the reader's message, and the expression.

A verdict of the kernel shows the reason. Who explains a refusal to the author of a program looks
the code up in a table of messages, and points at `at`.
"""

from __future__ import annotations

from bayesdp.kernel.arithmetic import InvalidError, UnknownError
from bayesdp.kernel.programs.reading import Command, Node

ProgramPart = Node | Command
"""What is refused: an expression or a command."""


class RefusedError(InvalidError):
    """The program breaks a rule."""

    def __init__(
        self, code: str, reason: str, at: ProgramPart | None = None, step: str = ""
    ) -> None:
        super().__init__(reason, step)
        self.code, self.at = code, at


class UnprovedError(UnknownError):
    """No rule decides it."""

    def __init__(
        self, code: str, reason: str, at: ProgramPart | None = None, step: str = ""
    ) -> None:
        super().__init__(reason, step)
        self.code, self.at = code, at


def allow(
    holds: bool, code: str, reason: str, at: ProgramPart | None = None, step: str = ""
) -> None:
    """`RefusedError` unless it holds."""
    if not holds:
        raise RefusedError(code, reason, at, step)
