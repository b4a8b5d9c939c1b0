"""How the checker says no: rejected is the program's fault, unknown is a limit of ours."""

from __future__ import annotations

from bayesdp.programs.ir import Expr, Where


class Stopped(Exception):
    """Checking stopped at one place of the program."""

    def __init__(
        self, code: str, message: str, at: Expr | Where | None = None, accepted: str = ""
    ) -> None:
        super().__init__(message)
        self.code, self.message, self.accepted = code, message, accepted
        self.where = at.where if isinstance(at, Expr) else at


class Rejected(Stopped):
    """The program breaks a rule."""


class Undecided(Stopped):
    """The checker can't decide: never accepted."""
