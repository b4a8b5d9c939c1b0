"""The refinement tier: folds, preconditions, asserted sensitivities.

*Fold.* `fold(data, start, step)` moves by at most c when one record changes, if (1) a step never
widens a gap, `|step(a, r) - step(b, r)| <= |a - b|` for every row r, and (2) one differing row
opens a gap of at most c: `|step(a, r) - step(a, r')| <= c`. Induction over the rows. Both folds run
in step with each other: replace-one only.
"""

from __future__ import annotations

from fractions import Fraction

from bayesdp.kernel.programs.obligations import (
    MOVES,
    WIDENS,
    Problem,
    moves_at_most,
    never_widens,
)
from bayesdp.kernel.programs.ranges import AdjacencyContext, folded
from bayesdp.programs.check.refusals import Rejected, Undecided
from bayesdp.programs.check.sizes import some_size
from bayesdp.programs.check.solvers import KNOWN, ask
from bayesdp.programs.ir import Expr, names_of, nodes
from bayesdp.programs.number_text import formula


class Refinements:
    """Asks the solvers, and keeps the obligations and the solvers that agreed."""

    def __init__(self, context: AdjacencyContext) -> None:
        self.context, self.requires = context, context.program.requires
        self.obligations: list[dict[str, object]] = []
        self.folds: dict[Expr, Fraction] = {}

    @property
    def solvers(self) -> tuple[str, ...]:
        """The solvers that agreed on every obligation; empty if there was none."""
        agreed = [obligation["solvers"] for obligation in self.obligations]
        return tuple(
            solver
            for solver in KNOWN
            if agreed and all(isinstance(names, list) and solver in names for names in agreed)
        )

    def prove(self, claim: str, problem: Problem, at: Expr | None) -> None:
        """Raises `Undecided` unless every solver says that the problem, the negation, can't hold.

        `claim` says in words what is proved.
        """
        answer = ask(problem.text(), "unsat")
        if answer.refuted:
            raise Undecided(
                "unproved", f"This doesn't hold: {claim} ({answer.reason}).", at,
                "Steps like clip(so_far + x, 0, 10) or max(so_far, x) never do; sum(clip(...)) "
                "needs no such proof.",
            )  # fmt: skip
        if not answer.holds:
            raise Undecided("unproved", f"Not proved: {claim} ({answer.reason}).", at)
        self.obligations.append(
            {"what": claim, "text": problem.text(), "solvers": list(answer.solvers)}
        )

    def _problem(self) -> Problem:
        problem = Problem(self.context)
        problem.requires()
        return problem

    def precondition(self) -> None:
        """Check that the preconditions hold for some size: a vacuous one would prove anything.

        Raises `Rejected` where they hold for none, `Undecided` where no solver decides.
        """
        possible = some_size(self.requires, self.context.size)
        if possible is False:
            raise Rejected(
                "precondition", "No table satisfies the preconditions.", self.requires[0]
            )
        if possible:
            return
        problem = self._problem()
        problem.term(Expr("public", (), ("db.size",)), "public", "")
        answer = ask(problem.text(), "sat")
        if answer.refuted:
            raise Rejected(
                "precondition", "No table satisfies the preconditions.", self.requires[0]
            )
        if not answer.holds:
            raise Undecided("unproved", f"The preconditions: {answer.reason}.", self.requires[0])

    def enough(self, asserted: Expr, derived: Expr) -> None:
        """Prove that an asserted sensitivity is at least the derived one for every admitted size.

        Raises `Rejected` where it isn't, `Undecided` where no solver decides.
        """
        claim = "the asserted sensitivity is enough"
        problem = self._problem()
        left, right = (problem.term(side, "public", "") for side in (asserted, derived))
        problem.assertions.append(("<", left, right))
        answer = ask(problem.text(), "unsat")
        if answer.holds:
            self.obligations.append(
                {"what": claim, "text": problem.text(), "solvers": list(answer.solvers)}
            )
        elif answer.refuted:
            for_n = " with the database's size for n" if names_of(derived) else ""
            raise Rejected(
                "sensitivity",
                f"sensitivity={formula(asserted)} is asserted, and one record can move this by "
                f"{formula(derived)}, which is more for some admitted number n of records.",
                asserted,
                f"Write sensitivity={formula(derived)}{for_n}, or leave it out.",
            )
        else:
            raise Undecided("unproved", f"Not proved: {claim} ({answer.reason}).", asserted)

    def fold(self, expr: Expr) -> Fraction:
        """The most that a fold moves when one record is replaced. Raises `Undecided`."""
        if expr not in self.folds:
            self.prove(WIDENS, never_widens(expr, self.context), expr)
            self.folds[expr] = self._least_move(expr)
        return self.folds[expr]

    def _least_move(self, expr: Expr) -> Fraction:
        """The least candidate that is proved, by bisection: a larger one follows from it."""
        candidates = self._candidates(expr)
        proved: tuple[Fraction, Problem] | None = None
        low, high = 0, len(candidates)
        while low < high:
            middle = (low + high) // 2 if proved else high - 1  # the largest one first
            problem = moves_at_most(expr, candidates[middle], self.context)
            answer = ask(problem.text(), "unsat")
            if answer.holds:
                proved, high = (candidates[middle], problem), middle
            elif answer.refuted:
                low = middle + 1
            else:
                # Nobody knows: what is proved already stands, and no solver is kept waiting.
                break
        if proved is None:
            raise Undecided(
                "unproved", "No bound was proved on how far one record moves this fold "
                f"({answer.reason}).", expr, "sum(clip(...)) has one by its bounds.",
            )  # fmt: skip
        self.prove(f"{MOVES}{proved[0]}", proved[1], expr)
        return proved[0]

    def _candidates(self, fold: Expr) -> list[Fraction]:
        """Bounds to try, least first: widths in the step, their sums, products and quotients."""
        widths = {Fraction(1)}
        data, step = fold.args
        for node in (*nodes(data.args[0]), *nodes(step)):
            if node.op == "field":
                column = self.context.program.columns[str(node.data[0])]
                widths.add(column.high - column.low)
            if node.op == "clip":
                ends = [folded(end) for end in node.args[1:]]
                if ends[0] is not None and ends[1] is not None:
                    widths.add(ends[1] - ends[0])
            if node.op == "const" and isinstance(node.data[0], Fraction):
                widths.add(abs(node.data[0]))
        base = sorted(width for width in widths if width > 0)
        base = base if len(base) <= 10 else base[:5] + base[-5:]
        more = {made for x in base for y in base for made in (x + y, x * y, x / y)}
        return sorted({*base, *more})
