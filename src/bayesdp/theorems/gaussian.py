"""What the theorems about Gaussian populations share: their hypotheses and their arithmetic.

All of them are of one form (theory 3.8): when one record moves, the others move with it by bounded
amounts, a mechanism that is `eps`-Lipschitz in the l1 distance of the clipped records notices the
sum of the movements, and clipping lets no record move by more than the width of the interval.
So the level is `factor * eps`, with a factor that depends on the correlations.

Rounding to the grid (theory 6) can add one grid step, and the rounding of the engine's arithmetic
another, for each record that moves: `slack` for each of the others.

Mixed spends (theory 2.2): mechanisms that are not Lipschitz cost `m eps`, `m` the size of the
group, and one shift coupling serves all of them, so the two sums add. What Gaussian noise costs
along the coupling is proved at `FactorTheorem`.

#### g. Unequal clusters, and which record is which

**Clusters smaller than declared.** An absent record is one that no query reads. Leave it among the
unknown records of b, c or f: it moves, but nothing sees it, so its term is missing from the sum,
and the sets `K` that can be known are fewer. The level of the full cluster holds. ∎ So a family
without a father needs no population of its own. (Who is absent is public, and the population is the
law given all that is public: the declared covariance must hold for the families without a father,
too.)

**Which row of the covariance a record stands for.** The factor is a maximum over targets and known
sets, and the mechanism's cost is the same for every record. So permuting the rows of the covariance
changes nothing: a level holds as soon as *some* assignment of the records to different rows of the
covariance describes their law. It must not depend on private values: "the taller one is record 1"
is not an assignment, since the law given such an order is another one. Without `roles` the
certificate states this as an assumption. With `roles` and a public column of role `member` the
assignment is declared, and the table is held against it: no cluster has two records of one member.

*Reference values.* Three records, all correlations 0.275: a gives 1.85345, b 1.55. Two records with
correlation 0.4483: 1.4483 in both. c equals b in both.
"""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from typing import Any, ClassVar

from bayesdp.leakage.zcdp import group_renyi, shifted
from bayesdp.notions import Bound, Cost
from bayesdp.numbers import UpperBound, float_above, up
from bayesdp.populations import Gaussian
from bayesdp.theorems.base import P, Question, Theorem

UNBOUNDED = (
    'secrets="unbounded": for secret values outside the clipping interval the bound is false, '
    "since the others then move by more than the target does (theory 3.8)"
)
NOT_LIPSCHITZ = (
    "the bound is for mechanisms that are Lipschitz in the clipped values (Laplace noise on a sum "
    'or a mean), and kind="any" has counts, histograms and unknown mechanisms too (theory 7)'
)


EQUAL_VARIANCES = 1e-12
"""Variances within this relative distance of the smallest count as equal."""

NO_COVARIANCE = "the covariance is not declared, only a bound on correlations or regressions"


class ShiftTheorem(Theorem[P]):
    """A theorem on mechanisms that are Lipschitz in the values: it bounds how far records move.

    ### 3.8 Gaussian populations

    Clusters of at most `m` jointly Gaussian records, mutually independent. The theorems here need
    two hypotheses that the literature leaves implicit and that bayesdp asks for:

    1. The mechanism is **Lipschitz in the clipped values**: replacing records changes `ln P[y | x]`
       by at most `eps_l1` times the l1 distance of the records clipped to `[a, b]`. That is Laplace
       noise on a sum, mean or linear query of clipped records. With `M = b - a` its DP cost is
       `eps = M eps_l1`. (`--kind lipschitz`; otherwise the cluster bound `m eps` of 3.2 is all
       there is.)
    2. The **secrets lie in the clipping interval**: `x_i, x_i'` in `[a, b]` (`secrets =
       "bounded"`).

    *Without the second the bounds are false.* Two records, correlation 0.1, clipped to [-3, 3], eps
    1.2, so that 1.32 would be claimed: the leakage is 1.3196 for the secrets 3 and -3, but 1.4388
    for 6 and -6, 2.2404 for 30 and -30, and it tends to `2 eps = 2.4`. If the secrets lie in an
    interval of a stated width `D >= M`, the factor of b becomes `1 + sum_j min(|beta_j| D / M, 1)`;
    with `secrets = "unbounded"` it is `m`.
    """

    secrets_in_intervals = True
    reads_columns: ClassVar[bool] = False
    """Whether it uses the costs that are kept column by column."""

    @abstractmethod
    def failed(self, population: P, cost: Cost) -> str | None:
        """The failed hypothesis about the population, or `None`."""

    @abstractmethod
    def divergence(self, population: P, question: Question, cost: Cost, alpha: float) -> UpperBound:
        """`renyi`, where the adversary is not informed."""

    def failed_hypothesis(self, population: P, question: Question, cost: Cost) -> str | None:
        """Needs bounded secrets, a Lipschitz mechanism, and the theorem's own hypotheses."""
        if cost.by_column and not self.reads_columns:
            return "costs are kept by column, and the records are single values"
        moves = cost.lipschitz > 0.0 or cost.rho_lipschitz > 0.0 or bool(cost.by_column)
        if not (moves or cost.is_zero):
            return NOT_LIPSCHITZ
        if question.secrets == "unbounded":
            return UNBOUNDED
        return self.failed(population, cost)

    def renyi(self, question: Question, cost: Cost, alpha: float) -> UpperBound | None:
        """The divergence along the coupling; for an informed adversary the mechanisms' own cost."""
        if question.informed:
            return group_renyi(1, cost, alpha)
        return self.divergence(self._population(question), question, cost, alpha)


class FactorTheorem(ShiftTheorem[P]):
    """A theorem of the form `factor * eps` (theory 3.8 a to d).

    **Beside other spends** (new). Let a total consist of pure costs, `eps_lip` of mechanisms that
    are Lipschitz in the covered column and `eps_any` of others, and of zCDP costs `rho_lip` and
    `rho_any` of the same two kinds. With the factor `F` of b, c or d, for secrets in the interval,

    ```text
    tau = F eps_lip + m eps_any + alpha (F^2 rho_lip + m^2 rho_any)
    ```

    bounds the Rényi divergence of order `alpha` of each coupled pair, and 3.10 and 2.5 turn it into
    a level. **Proof.** Along the coupling of b the records together move by at most `F M`, so a
    noisy sum's mean moves by `F` times as far as one record moves it, and `D_alpha` of two
    (discrete) Gaussian laws is `alpha shift^2 / (2 sigma^2)`. Mechanisms of the other kind see at
    most `m` records change. Compose for the pair. ∎ *Grid:* each of the `m - 1` others can add up
    to `x` steps to the shift (section 6). Let `s = x^2 / (2 sigma^2)`, the *slack* of a Gaussian
    spend, be what these steps would cost on their own; then the shift costs `(F sqrt(rho) + (m - 1)
    sqrt(s))^2`. For several spends the same formula holds with the sums of `rho` and of `s`
    (Minkowski's inequality). Records with several columns: f, with each column's own factor in the
    same way, for the same adversary.
    """

    @abstractmethod
    def factor(self, population: P) -> tuple[UpperBound, dict[str, Any]]:
        """The factor, rounded up, and evidence for it."""

    def failed(self, population: P, cost: Cost) -> str | None:
        """No hypothesis beyond what the model declares."""
        return None

    def level(self, population: P, question: Question, cost: Cost) -> Bound:
        """`factor * lipschitz + m * any`."""
        factor, evidence = self.factor(population)
        size = population.group_size
        level = up(factor * cost.lipschitz, 1)
        if cost.slack > 0.0:
            level = up(level + (size - 1) * cost.slack, 4)
        if cost.any > 0.0:
            level = up(level + size * cost.any, 4)
        return self._bound(UpperBound(level), factor=factor, size=size, **evidence)

    def divergence(self, population: P, question: Question, cost: Cost, alpha: float) -> UpperBound:
        """The pure level plus `alpha` times the zCDP cost of the same shift (theory 3.8 e)."""
        factor, _ = self.factor(population)
        size = population.group_size
        rho = shifted(factor, cost.rho_lipschitz, size - 1, cost.rho_slack)
        pure = self.level(population, question, cost).epsilon
        return UpperBound(up(pure + alpha * up(rho + size * size * cost.rho_any, 3), 2))


class ClusterTheorem(FactorTheorem[Gaussian]):
    """A theorem about clusters of jointly Gaussian records with a single value each."""

    models = (Gaussian,)

    def applies(self, population: Gaussian) -> bool:
        """Records of a single value; for vectors there is `gaussian-vector`."""
        return population.columns is None


def largest_correlation(population: Gaussian) -> tuple[int, float, bool]:
    """The cluster's size, its largest |correlation| (rounded up), and whether variances agree."""
    if population.covariance is None:
        assert population.max_correlation is not None
        return population.group_size, population.max_correlation, True
    rows = population.covariance
    variances = [rows[i][i] for i in range(len(rows))]
    equal = max(variances) <= min(variances) * (1.0 + EQUAL_VARIANCES)
    covariances = [abs(rows[i][j]) for i in range(len(rows)) for j in range(len(rows)) if i != j]
    largest = float_above(Fraction(max(covariances, default=0.0)) / Fraction(min(variances)))
    return len(rows), largest, equal


class EqualVariancesTheorem(ClusterTheorem):
    """A factor by the cluster's size and its largest correlation; false for unequal variances."""

    uses = "the size of a cluster and its largest correlation"
    ignores = "all other correlations, and who is known"
    bound_in_words: ClassVar[str] = "the bound"

    def failed(self, population: Gaussian, cost: Cost) -> str | None:
        """Equal variances, and that there is a constant for this correlation."""
        if population.precision is not None:
            return "the precision is declared, not the correlations"
        if population.max_regression_sum is not None:
            return "the largest sum of regressions is declared, not the correlations"
        size, rho, equal = largest_correlation(population)
        if not equal:
            return f"the variances differ: {self.bound_in_words} is false then (theory 3.8 a)"
        return self.no_constant(size, rho)

    def no_constant(self, size: int, rho: float) -> str | None:
        """Why there is no constant for this correlation, or `None`."""
        return None

    @abstractmethod
    def constant(self, size: int, rho: float) -> UpperBound:
        """The factor, rounded up."""

    def factor(self, population: Gaussian) -> tuple[UpperBound, dict[str, Any]]:
        """The constant, and the `rho` in it."""
        size, rho, _ = largest_correlation(population)
        return self.constant(size, rho), {"max_correlation": rho}
