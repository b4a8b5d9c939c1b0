"""What the rules of releases need, and what they give: a setting, and the cost of a release."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from bayesdp.kernel.arithmetic import InvalidError, TooSlowError, require
from bayesdp.kernel.programs.levels import Scope
from bayesdp.kernel.programs.ranges import AdjacencyContext, folded
from bayesdp.kernel.programs.reading import Node, const
from bayesdp.kernel.programs.rows import linear
from bayesdp.kernel.programs.sensitivities import (
    JOINT,
    Folds,
    Norm,
    RulesAllowed,
    SensitivityBound,
    sensitivity_of,
)
from bayesdp.kernel.programs.sizes import holds_for_all_sizes
from bayesdp.statements.base import exact_text
from bayesdp.statements.program import names_of

FractionPair = tuple[Fraction, Fraction]
NONE: FractionPair = (Fraction(0), Fraction(0))
"""No cost: an epsilon and a delta of 0."""

UNCHANGED = Fraction(1)
"""The number 1, exactly."""


@dataclass(frozen=True)
class ReleaseCost:
    """What a release costs; `entering`: where a record only enters or leaves (None: not known)."""

    cost: FractionPair
    entering: FractionPair | None
    kind: tuple[str, str | None, tuple[Fraction, Fraction] | None]


@dataclass(frozen=True)
class Setting:
    """What the rules need: names and the context, folds, and the least number of records."""

    scope: Scope
    folds: Folds
    step: str = ""
    seen: dict[tuple[Node, str, str, bool], SensitivityBound] = field(
        default_factory=dict, compare=False
    )

    @property
    def context(self) -> AdjacencyContext:
        """The program with its adjacency, its sizes and where its public values lie."""
        return self.scope.context

    @property
    def least(self) -> int:
        """The least number of records that is admitted."""
        low = self.context.size.low
        return -((-Fraction(low).numerator) // Fraction(low).denominator)

    def enough_for(
        self,
        greater: Node,
        node: Node,
        norm: Norm,
        context: AdjacencyContext,
        what: str,
        times: Fraction = UNCHANGED,
    ) -> None:
        """`InvalidError` unless `greater` is at least `times` the sensitivity of a value.

        The rules that take time are tried where the quick ones don't suffice.
        """
        derived_before = (node, norm, context.adjacency, True) in self.seen
        for thorough in (True,) if derived_before else (False, True):
            try:
                shift = self.sensitivity(node, norm, context, thorough).value
            except TooSlowError:
                raise
            except InvalidError:
                if thorough:
                    raise
                continue
            smaller = shift if times == 1 else Node("mul", (const(times), shift))
            if thorough:
                self.enough(greater, smaller, what)
            elif holds_for_all_sizes(greater, smaller, context.size, context.effort):
                return

    def sensitivity(
        self, node: Node, norm: Norm, context: AdjacencyContext, thorough: bool = True
    ) -> SensitivityBound:
        """How far a value moves; computed once for a value that reads no released name."""
        key = (node, norm, context.adjacency, thorough)
        lasting = names_of(node) <= {"db.size"}
        if lasting and key in self.seen:
            return self.seen[key]
        bound = sensitivity_of(node, norm, context, RulesAllowed(self.folds, thorough))
        if lasting:
            self.seen[key] = bound
        return bound

    def by_rule(self, name: str, node: Node, norm: Norm) -> Node:
        """How far a value moves by this rule of `JOINT` alone."""
        bound = self.seen.get((node, norm, self.context.adjacency, True))
        if bound is not None and bound.by == name:
            return bound.value
        entries = linear(node, self.context)
        require(entries is not None, "the sensitivity is by a rule that does not apply here")
        assert entries is not None
        value = JOINT[name](entries, norm, self.context)
        require(value is not None, "the sensitivity is by a rule that does not apply here")
        assert value is not None
        return const(value)

    def enough(self, greater: Node, smaller: Node, what: str) -> None:
        """`InvalidError` unless `greater >= smaller` for every admitted number of records."""
        a, b = folded(greater), folded(smaller)
        if a is None or b is None:
            certain = holds_for_all_sizes(greater, smaller, self.context.size, self.context.effort)
        else:
            certain = a >= b
        values = (
            f": {exact_text(float(a))} is stated, {exact_text(float(b))} derived"
            if a is not None and b
            else ""
        )
        require(certain, f"{what} is below what is derived{values}", self.step)
