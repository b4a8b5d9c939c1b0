"""From differential privacy to Bayesian differential privacy: one theorem a file.

`REGISTRY` lists them all, in the order in which reports show them. `leakage` asks every theorem
that is about a population what a DP cost means there; the refused ones keep their reasons.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from bayesdp.certificate import plain_number
from bayesdp.errors import InputError
from bayesdp.notions import ADVERSARIES, KINDS, SECRETS, Adversary, Cost, Kind, Secrets
from bayesdp.populations import Population
from bayesdp.theorems.autoregressive import AutoregressiveSeries
from bayesdp.theorems.base import Bound, Question, Refused, Theorem
from bayesdp.theorems.cluster_size import ClusterSize
from bayesdp.theorems.gaussian_covariance import GaussianCovariance
from bayesdp.theorems.gaussian_max_correlation import GaussianMaxCorrelation
from bayesdp.theorems.gaussian_vector import GaussianVector
from bayesdp.theorems.gaussian_walk_summable import GaussianWalkSummable
from bayesdp.theorems.independent import IndependentRecords
from bayesdp.theorems.markov_contraction import MarkovContraction
from bayesdp.theorems.markov_ratio import MarkovRatio
from bayesdp.theorems.markov_recursion import MarkovRecursion

REGISTRY: tuple[Theorem, ...] = (
    IndependentRecords(),
    ClusterSize(),
    MarkovRatio(),
    MarkovContraction(),
    MarkovRecursion(),
    GaussianMaxCorrelation(),
    GaussianCovariance(),
    GaussianWalkSummable(),
    GaussianVector(),
    AutoregressiveSeries(),
)
"""Every theorem. A new one is a file here, a line in this list, and a test."""

__all__ = ["REGISTRY", "Bound", "LeakageReport", "Question", "Refused", "Theorem", "leakage"]


@dataclass(frozen=True, slots=True)
class LeakageReport:
    """Every applicable bound (lowest first), every refused theorem with its reason.

    `secrets` matters only to theorems about Gaussian populations.
    """

    cost: Cost
    adversary: Adversary
    secrets: Secrets
    bounds: tuple[Bound, ...]
    refused: tuple[Refused, ...]

    @property
    def best(self) -> Bound:
        """The lowest bound. An exact one wins ties."""
        return self.bounds[0]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `bayesdp leakage --json` prints it; an infinite level is None."""
        return {
            "dp_epsilon": self.cost.dp_epsilon,
            "adversary": self.adversary,
            "bounds": [
                {
                    "theorem": bound.theorem,
                    "epsilon": plain_number(bound.epsilon),
                    "tight": bound.tight,
                    "source": bound.source,
                }
                for bound in self.bounds
            ],
            "refused": [{"theorem": r.theorem, "reason": r.reason} for r in self.refused],
            "best": {
                "theorem": self.best.theorem,
                "epsilon": plain_number(self.best.epsilon),
            },
        }


def leakage(
    population: Population,
    dp_epsilon: float,
    *,
    adversary: Adversary = "any",
    kind: Kind = "any",
    secrets: Secrets = "bounded",
) -> LeakageReport:
    """What an `dp_epsilon`-DP mechanism means under `population`: bounds on its BDP level.

    `dp_epsilon` is the DP cost in nats, at least 0. `kind="any"` speaks of every DP mechanism,
    `"lipschitz"` of those that are Lipschitz in the clipped values (Laplace on a sum or mean).
    `secrets="bounded"` restricts the attacked values to the clipping interval. Errors: `InputError`
    naming the argument. Source: theory 2.1 and the theorems' own files.

    >>> from bayesdp.populations import MarkovChain
    >>> chain = MarkovChain(transition=((0.9, 0.1), (0.1, 0.9)), length=100)
    >>> report = leakage(chain, 0.5)
    >>> report.best.theorem, round(report.best.epsilon, 4)
    ('markov-recursion', 3.3627)
    """
    _require(dp_epsilon, adversary, kind, secrets)
    return report(Question(population, adversary, secrets), Cost.of(dp_epsilon, kind))


def report(question: Question, cost: Cost) -> LeakageReport:
    """The same for a `Cost`, which may mix kinds of mechanism."""
    bounds: list[Bound] = []
    refused: list[Refused] = []
    for theorem in REGISTRY:
        if not theorem.concerns(question.population):
            continue
        reason = theorem.refusal(question, cost)
        if reason is None:
            bounds.append(_at_least_dp(theorem.bound(question, cost), cost))
        else:
            refused.append(Refused(theorem.name, reason))
    bounds.sort(key=lambda bound: (bound.epsilon, bound.tight != "exact"))
    return LeakageReport(cost, question.adversary, question.secrets, tuple(bounds), tuple(refused))


def _at_least_dp(bound: Bound, cost: Cost) -> Bound:
    """`L(eps) >= eps` always holds (theory 2.1): a lower number would be a rounding mistake."""
    if bound.epsilon >= cost.dp_epsilon:
        return bound
    return Bound(bound.theorem, cost.dp_epsilon, bound.tight, bound.source, bound.evidence)


def _require(dp_epsilon: float, adversary: str, kind: str, secrets: str) -> None:
    if not (isinstance(dp_epsilon, int | float) and 0.0 <= dp_epsilon < math.inf):
        raise InputError("dp_epsilon", dp_epsilon, expected="a finite number of nats, at least 0")
    for key, value, options in (
        ("adversary", adversary, ADVERSARIES),
        ("kind", kind, KINDS),
        ("secrets", secrets, SECRETS),
    ):
        if value not in options:
            raise InputError(key, value, expected="one of " + ", ".join(options))
