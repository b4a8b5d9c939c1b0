"""What the theorems about Gaussian populations share: their hypotheses and their arithmetic.

All of them are of one form (theory 3.8): when one record moves, the others move with it by bounded
amounts, a mechanism that is `eps`-Lipschitz in the l1 distance of the clipped records notices the
sum of the movements, and clipping lets no record move by more than the width of the interval.
So the level is `factor * eps`, with a factor that depends on the correlations.

Rounding to the grid (theory 6) can add one grid step, and the rounding of the engine's arithmetic
another, for each record that moves: `slack` for each of the others.

Mixed spends (theory 2.2): mechanisms that are not Lipschitz cost `m eps`, `m` the size of the
group, and one shift coupling serves all of them, so the two sums add.

Gaussian noise (theory 3.8 e). A mechanism that is Lipschitz in the values and has the zCDP cost
`rho` has, along the coupling, a mean that moves `factor` times as far, hence `factor^2 rho`; one of
another kind `m^2 rho`. Each coupled pair of databases then has a bounded Rényi divergence, and the
outputs for two secrets mix such pairs with the same weights.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from bayesdp.leakage.rounding import up
from bayesdp.leakage.zcdp import group_renyi, shifted
from bayesdp.notions import Bound, Cost
from bayesdp.theorems.base import Question, Theorem

UNBOUNDED = (
    'secrets="unbounded": for secret values outside the clipping interval the bound is false, '
    "since the others then move by more than the target does (theory 3.8)"
)
NOT_LIPSCHITZ = (
    'kind="any": the bound is for mechanisms that are Lipschitz in the clipped values (Laplace '
    "noise on a sum or a mean); counts, histograms and unknown mechanisms are not (theory 7)"
)


class GaussianTheorem(Theorem):
    """A theorem of the form `factor * eps` for mechanisms that are Lipschitz in the values."""

    @abstractmethod
    def hypothesis(self, question: Question) -> str | None:
        """The failed hypothesis about the population, or `None`."""

    @abstractmethod
    def factor(self, question: Question) -> tuple[float, dict[str, Any]]:
        """The factor, rounded up, and evidence for it."""

    def refusal(self, question: Question, cost: Cost) -> str | None:
        """Needs bounded secrets, a Lipschitz mechanism, and the theorem's own hypotheses."""
        if question.adversary == "informed":
            return None
        if cost.lipschitz == cost.rho_lipschitz == 0.0 and not cost.is_zero:
            return NOT_LIPSCHITZ
        if question.secrets == "unbounded":
            return UNBOUNDED
        return self.hypothesis(question)

    def bound(self, question: Question, cost: Cost) -> Bound:
        """`factor * lipschitz + m * any`; `eps` against an informed adversary."""
        if question.adversary == "informed":
            return self._bound(cost.dp_epsilon)
        factor, evidence = self.factor(question)
        size = question.population.group_size
        level = up(factor * cost.lipschitz, 1)
        if cost.slack > 0.0:
            level = up(level + (size - 1) * cost.slack)
        if cost.any > 0.0:
            level = up(level + size * cost.any)
        return self._bound(level, factor=factor, size=size, **evidence)

    def renyi(self, question: Question, cost: Cost, alpha: float) -> float | None:
        """Along the coupling: the pure level, and `alpha` times the zCDP cost of the same shift."""
        if question.adversary == "informed":
            return group_renyi(1, cost, alpha)
        factor, _ = self.factor(question)
        size = question.population.group_size
        rho = shifted(factor, cost.rho_lipschitz, size - 1, cost.rho_slack)
        pure = self.bound(question, cost).epsilon
        return up(pure + alpha * up(rho + size * size * cost.rho_any, 3), 2)
