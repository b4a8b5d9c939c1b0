"""What is asked of the parts of a program beside the rules, and in which order.

A public value needs a name that has one, a law parameters that it has, a choice candidates. Nothing
of this is about privacy: it keeps a run from failing when it is paid for.
"""

from __future__ import annotations

from bayesdp.kernel.programs.levels import Scope
from bayesdp.kernel.programs.ranges import AdjacencyContext
from bayesdp.programs.check.divisors import Fact, check_divisor, divisor_note, facts
from bayesdp.programs.check.parameters import check_parameters
from bayesdp.programs.check.refusals import Rejected
from bayesdp.programs.ir import Expr


class Explanations:
    """Looks at expressions before the rules do; `facts` hold wherever an expression stands."""

    def __init__(self) -> None:
        self.facts: tuple[Fact, ...] = ()
        """Public comparisons that hold here."""
        self.notes: list[str] = []
        """What is said of an accepted program."""

    def public(self, expr: Expr, scope: Scope, *, noted: bool = False) -> None:
        """Refuse private data in an expression that is not released, and names without a value.

        With `noted`, divisors that may be 0 are noted instead of refused. Raises `Rejected`.
        """
        if scope.context.moved(expr) or has_rows(expr):
            raise Rejected(
                "private-output", "A private value is used without a release.", expr, "Release it."
            )
        self.look(expr, scope, noted=noted)

    def look(self, expr: Expr, scope: Scope, *, noted: bool = False) -> None:
        """Check the names, parameters and public divisors of an expression. Raises `Rejected`."""
        for part in expr.walk():
            if part.op == "public":
                scope.public(part)
        self._look(expr, scope.context, (), noted)

    def _look(
        self, expr: Expr, context: AdjacencyContext, known: tuple[Fact, ...], noted: bool
    ) -> None:
        """`known` are comparisons that hold beside the program's own."""
        if expr.op in ("data", "row-score"):
            return
        if expr.op in ("prior", "likelihood"):
            check_parameters(expr, context)
        for i, part in enumerate(expr.args):
            if expr.op == "if" and i > 0:
                self._look(part, context, (*known, *facts(expr.args[0], i == 1)), noted)
            elif expr.op != "fold" or i != 1:
                self._look(part, context, known, noted)
        if expr.op == "div" and not context.moved(expr):
            holding = (*self.facts, *known)
            if not noted:
                check_divisor(expr.args[1], context, holding)
            elif (note := divisor_note(expr.args[1], context, holding)) is not None:
                self.notes.append(note)


def has_rows(expr: Expr) -> bool:
    """Whether an expression holds private rows other than in a sum that is public."""
    if expr.op in ("sum", "count"):
        return False
    if expr.op in ("data", "field", "acc", "fold", "transitions"):
        return True
    return any(has_rows(part) for part in expr.args)
