"""The refinement tier: folds, preconditions, asserted sensitivities.

*Fold.* `fold(data, start, step)` moves by at most c when one record changes, if (1) a step never
widens a gap, `|step(a, r) - step(b, r)| <= |a - b|` for every row r, and (2) one differing row
opens a gap of at most c: `|step(a, r) - step(a, r')| <= c`. Induction over the rows. Both folds run
in step with each other: replace-one only.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from bayesdp.programs.ir import Adjacency, Expr, names_of, nodes
from bayesdp.programs.number_text import formula
from tests.oracles.program_checker.intervals import Context, Interval
from tests.oracles.program_checker.refusals import Rejected, Unknown
from tests.oracles.program_checker.rows import check_row
from tests.oracles.program_checker.sensitivity import pieces_of
from tests.oracles.program_checker.sizes import some_size
from tests.oracles.program_checker.solvers import KNOWN, Encoder, Problem, numeral


class Refinements:
    """Asks the solvers, and keeps what they were asked and who agreed."""

    def __init__(self, context: Context, requires: Sequence[Expr]) -> None:
        self.context, self.requires = context, tuple(requires)
        self.obligations: list[dict[str, object]] = []
        self.folds: dict[Expr, Fraction] = {}

    @property
    def solvers(self) -> tuple[str, ...]:
        """Who agreed on every obligation; empty if there was none."""
        agreed = [obligation["solvers"] for obligation in self.obligations]
        return tuple(
            item
            for item in KNOWN
            if agreed and all(isinstance(said, list) and item in said for said in agreed)
        )

    def prove(self, what: str, problem: Problem, at: Expr | None) -> None:
        """Raise `Unknown` unless every solver says that the negation can't be."""
        answer = problem.unsatisfiable()
        if answer.refuted:
            raise Unknown(
                "unproved", f"This doesn't hold: {what} ({answer.reason}).", at,
                "Steps like clip(so_far + x, 0, 10) or max(so_far, x) never do; sum(clip(...)) "
                "needs no such proof.",
            )  # fmt: skip
        if not answer.holds:
            raise Unknown("unproved", f"Not proved: {what} ({answer.reason}).", at)
        self.obligations.append(
            {"what": what, "text": problem.text(), "solvers": list(answer.solvers)}
        )

    def _problem(self) -> tuple[Problem, Encoder]:
        problem = Problem()
        encoder = Encoder(problem, self.context.columns, self.context.public)
        for requirement in self.requires:
            problem.say(encoder.term(requirement, "public"))
        return problem, encoder

    def precondition(self) -> None:
        """The preconditions can hold for some size. A vacuous one would prove anything."""
        possible = some_size(self.requires, self.context.size)
        if possible is False:
            raise Rejected(
                "precondition", "No table satisfies the preconditions.", self.requires[0]
            )
        if possible:
            return
        problem, encoder = self._problem()
        encoder.term(Expr("public", (), ("db.size",)), "public")
        answer = problem.satisfiable()
        if answer.refuted:
            raise Rejected(
                "precondition", "No table satisfies the preconditions.", self.requires[0]
            )
        if not answer.holds:
            raise Unknown("unproved", f"The preconditions: {answer.reason}.", self.requires[0])

    def enough(self, asserted: Expr, derived: Expr) -> None:
        """An asserted sensitivity >= the derived one for every admitted size."""
        what = "the asserted sensitivity is enough"
        problem, encoder = self._problem()
        left, right = encoder.term(asserted, "public"), encoder.term(derived, "public")
        problem.say(f"(< {left} {right})")
        answer = problem.unsatisfiable()
        if answer.holds:
            self.obligations.append(
                {"what": what, "text": problem.text(), "solvers": list(answer.solvers)}
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
            raise Unknown("unproved", f"Not proved: {what} ({answer.reason}).", asserted)

    def fold(self, expr: Expr, adjacency: Adjacency) -> Fraction:
        """How far a fold moves when one record is replaced."""
        if adjacency != "replace-one":
            raise Unknown(
                "unproved", "How far a fold moves when a record enters or leaves is not known.",
                expr, "sum(...) of a clipped value.",
            )  # fmt: skip
        if expr in self.folds:
            return self.folds[expr]
        data, step = expr.args
        if data.data[0] or data.args[0] != Expr("const", (), (True,)):
            # A filtered row leaves the value as it is: the same as a step that may do nothing.
            step = Expr("if", (data.args[0], step, Expr("acc")))
            if data.data[0]:
                column = pieces_of(data)[-1][0]
                raise Unknown(
                    "unproved", "A fold over a piece of a partition is not derived.", expr,
                    f"Fold over the rows of one label: (r for r in people if r.{column} == ...).",
                )  # fmt: skip
        check_row(step, self.context, step=True)
        problem, encoder = self._problem()
        a, b = problem.real("a"), problem.real("b")
        x, y = encoder.term(step, "row", a), encoder.term(step, "row", b)
        problem.say(f"(>= {a} {b})")
        problem.say(f"(or (> (- {x} {y}) (- {a} {b})) (> (- {y} {x}) (- {a} {b})))")
        self.prove("a step of the fold never widens a gap", problem, expr)
        self.folds[expr] = self._least_move(expr, step)
        return self.folds[expr]

    def _least_move(self, expr: Expr, step: Expr) -> Fraction:
        """The least candidate that is proved, by bisection: a larger one follows from it."""
        candidates = self._candidates(step)
        proved: tuple[Fraction, Problem] | None = None
        low, high = 0, len(candidates)
        while low < high:
            middle = (low + high) // 2 if proved else high - 1  # the largest one first
            problem = self._moves(step, candidates[middle])
            answer = problem.unsatisfiable()
            if answer.holds:
                proved, high = (candidates[middle], problem), middle
            elif answer.refuted:
                low = middle + 1
            else:
                # Nobody knows: what is proved already stands, and no solver is kept waiting.
                break
        if proved is None:
            raise Unknown(
                "unproved", "No bound was proved on how far one record moves this fold "
                f"({answer.reason}).", expr, "sum(clip(...)) has one by its bounds.",
            )  # fmt: skip
        self.prove(f"one record moves the fold by at most {proved[0]}", proved[1], expr)
        return proved[0]

    def _moves(self, step: Expr, bound: Fraction) -> Problem:
        """Can two rows open a gap of more than `bound`?"""
        problem, encoder = self._problem()
        a = problem.real("a")
        x, y = encoder.term(step, "row", a), encoder.term(step, "other", a)
        problem.say(f"(> (- {x} {y}) {numeral(bound)})")
        return problem

    def _candidates(self, step: Expr) -> list[Fraction]:
        """Bounds to try, least first: widths in the step, their sums, products and quotients."""
        actual = {Fraction(1)}
        for node in nodes(step):
            if node.op == "field":
                width = _width(self.context, str(node.data[0]))
                actual |= {width} if width is not None else set()
            if node.op == "clip":
                ends = [_constant(end) for end in node.args[1:]]
                if ends[0] is not None and ends[1] is not None:
                    actual.add(ends[1] - ends[0])
            if node.op == "const" and isinstance(node.data[0], Fraction):
                actual.add(abs(node.data[0]))
        base = sorted(item for item in actual if item > 0)
        base = base if len(base) <= 10 else base[:5] + base[-5:]
        more = {made for x in base for y in base for made in (x + y, x * y, x / y)}
        return sorted({*base, *more})


def _constant(expr: Expr) -> Fraction | None:
    value = expr.data[0] if expr.op == "const" else None
    return value if isinstance(value, Fraction) else None


def _width(context: Context, column: str) -> Fraction | None:
    kind = context.columns[column]
    return Interval(kind.low, kind.high).width
