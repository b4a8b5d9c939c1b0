"""From differential privacy to Bayesian differential privacy: one theorem a file.

`REGISTRY` lists them all, in the order in which reports show them. `leakage` asks every theorem
that is about a population what a DP cost means there; the refused ones keep their reasons.

Other files: `base` (what a theorem is), `markov` and `gaussian` (what theorems of one model share),
`secret` and `zeros` (what possible values mean), `with_delta`, `renyi_orders` and `gaussian_noise`
(levels with a delta), `advice` (what more knowledge would bring), and the room `relations`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from bayesdp import notebook
from bayesdp.errors import InputError, Refusal, finite_number
from bayesdp.leakage.correlated_deltas import converted_delta
from bayesdp.leakage.deadline import OutOfTimeError
from bayesdp.notions import (
    ADVERSARIES,
    KINDS,
    SECRETS,
    Adversary,
    ApproxDP,
    Bound,
    Cost,
    Kind,
    LeakageReport,
    OfTime,
    Refused,
    Secrets,
)
from bayesdp.numbers import ZERO, LowerBound, UpperBound, up_words
from bayesdp.populations import Population
from bayesdp.theorems.autoregressive import AutoregressiveSeries
from bayesdp.theorems.base import AnyTheorem, Question, Theorem, check_seconds, tightness
from bayesdp.theorems.cluster_size import ClusterSize
from bayesdp.theorems.family import FamilyOfPopulations
from bayesdp.theorems.finite_law import FiniteLaw
from bayesdp.theorems.gaussian_covariance import GaussianCovariance
from bayesdp.theorems.gaussian_equal_variances import GaussianEqualVariances
from bayesdp.theorems.gaussian_max_correlation import GaussianMaxCorrelation
from bayesdp.theorems.gaussian_regression import GaussianRegression
from bayesdp.theorems.gaussian_vector import GaussianVector
from bayesdp.theorems.gaussian_walk_summable import GaussianWalkSummable
from bayesdp.theorems.graph_contraction import GraphContraction
from bayesdp.theorems.graph_ferromagnet import GraphFerromagnet
from bayesdp.theorems.graph_fields import GraphFields
from bayesdp.theorems.graph_influence import GraphInfluence
from bayesdp.theorems.independent import IndependentRecords
from bayesdp.theorems.markov_contexts import MarkovContexts
from bayesdp.theorems.markov_contraction import MarkovContraction
from bayesdp.theorems.markov_influence import MarkovInfluence
from bayesdp.theorems.markov_intervals import MarkovIntervals
from bayesdp.theorems.markov_ratio import MarkovRatio
from bayesdp.theorems.markov_recursion import MarkovRecursion
from bayesdp.theorems.markov_threshold import MarkovThreshold
from bayesdp.theorems.markov_window import MarkovWindow
from bayesdp.theorems.panel_blocks import PanelBlocks
from bayesdp.theorems.panel_contraction import PanelContraction
from bayesdp.theorems.secret import has_secret
from bayesdp.theorems.tree_recursion import TreeRecursion

REGISTRY: tuple[AnyTheorem, ...] = (
    IndependentRecords(),
    ClusterSize(),
    MarkovRatio(),
    MarkovContraction(),
    MarkovThreshold(),
    MarkovRecursion(),
    MarkovIntervals(),
    MarkovInfluence(),
    MarkovWindow(),
    MarkovContexts(),
    PanelContraction(),
    PanelBlocks(),
    TreeRecursion(),
    GraphContraction(),
    GraphFields(),
    GraphInfluence(),
    GraphFerromagnet(),
    FiniteLaw(),
    GaussianMaxCorrelation(),
    GaussianEqualVariances(),
    GaussianRegression(),
    GaussianCovariance(),
    GaussianWalkSummable(),
    GaussianVector(),
    AutoregressiveSeries(),
    FamilyOfPopulations(lambda question, cost: report(question, cost)),
)
"""Every theorem. A new one is a file here, a line in this list, and a test."""

BY_NAME: dict[str, AnyTheorem] = {theorem.name: theorem for theorem in REGISTRY}
"""The same by name, for names on certificates, some of which are those of other rules."""

NO_PURE_LEVEL = (
    "Gaussian noise has no level without a delta, however large. State a delta (in a study: "
    "budget.delta), or use Laplace noise."
)

NO_OWN_DELTA = (
    "Costs with deltas of their own have no level by this way. Convert one stated pair "
    "(epsilon, delta), as `bayesdp leakage --delta` does."
)

__all__ = [
    "BY_NAME",
    "NO_OWN_DELTA",
    "NO_PURE_LEVEL",
    "REGISTRY",
    "ApproximateReport",
    "Bound",
    "LeakageReport",
    "Question",
    "Refused",
    "Theorem",
    "check_seconds",
    "leakage",
    "require_question",
]


_Answer = TypeVar("_Answer")


def leakage(
    population: Population,
    dp_epsilon: float,
    *,
    adversary: Adversary = "any",
    kind: Kind = "any",
    secrets: Secrets = "bounded",
    seconds: float = 30.0,
) -> LeakageReport:
    """What a `dp_epsilon`-DP mechanism means under `population`: bounds on its BDP level.

    The level is the largest `ln P[y | x_i, x_K] - ln P[y | x_i', x_K]` over outputs `y`, values of
    the attacked record `i` and of the records `K` that the `adversary` knows ("any" set of them,
    none if "uninformed", all others if "informed"); each bound is in nats and rounded up.
    `dp_epsilon` is the DP cost in nats, at least 0. `kind="any"` speaks of every DP mechanism,
    `"lipschitz"` of those that are Lipschitz in the clipped values (Laplace on a sum or mean).
    `secrets="bounded"` restricts the attacked values to the clipping interval. `seconds` is what
    each theorem may take: one that would take longer (estimated from the size of the model) or does
    is refused. Quick theorems are asked first; once a level is exact the others get at most
    `SECONDS_WHERE_EXACT`. Raises `InputError` naming the argument. Source: theory 2.1 and the
    theorems' own files.

    >>> from bayesdp.populations import MarkovChain
    >>> chain = MarkovChain(transition=((0.9, 0.1), (0.1, 0.9)), length=100)
    >>> report = leakage(chain, 0.5)
    >>> report.best.theorem, round(report.best.epsilon, 4)
    ('markov-recursion', 3.3627)
    """
    dp_epsilon = require_question(dp_epsilon, adversary, kind, secrets)
    return report(Question(population, adversary, secrets, seconds), Cost.of(dp_epsilon, kind))


def report(question: Question, cost: Cost, *, search: bool = False) -> LeakageReport:
    """The bounds of `leakage` for a `Cost`: it may mix kinds of mechanism, without Gaussian noise.

    In a `search` only the best level matters, and others may be higher than their theorems prove.
    Raises `Refusal` for a cost with a zCDP part: `with_delta.report_with_delta` reads those.
    """
    check_own_delta(cost)
    if cost.rho > 0.0:
        raise Refusal(NO_PURE_LEVEL)
    secret = _has_secret(question)
    bounds: dict[str, Bound] = {}
    refused: dict[str, Refused] = {}
    for theorem in quickest_first(question):
        exact = any(bound.tight == "exact" for bound in bounds.values())
        if search:
            least = min((bound.epsilon for bound in bounds.values()), default=math.inf)
            question = replace(question, beaten=min(question.beaten, least))
        answer = _asked(theorem, question, cost, exact)
        if isinstance(answer, Refused):
            refused[theorem.name] = answer
        else:
            bounds[theorem.name] = _at_least_dp(answer, cost, secret)
            refused |= {refusal.theorem: refusal for refusal in answer.evidence.get("left_out", ())}
    return LeakageReport(
        cost,
        question.adversary,
        question.secrets,
        tuple(sorted(_as_listed(bounds), key=lambda b: (b.epsilon, b.tight != "exact"))),
        tuple(_as_listed(refused)),
    )


def check_own_delta(cost: Cost) -> None:
    """Raises `Refusal` for a cost with a delta of its own: theorems are about costs without one."""
    if cost.dp_delta > 0.0:
        raise Refusal(NO_OWN_DELTA)


def best_bound(
    question: Question, cost: Cost, *, note: Callable[[Refused], None] = lambda refused: None
) -> Bound:
    """The lowest level alone: no further theorem is asked once some level is exact.

    For searches, which look at many costs. `note` is called with each theorem that is refused.
    Raises `Refusal` for a cost with a zCDP part.
    """
    check_own_delta(cost)
    if cost.rho > 0.0:
        raise Refusal(NO_PURE_LEVEL)
    secret = _has_secret(question)
    best: Bound | None = None
    for theorem in quickest_first(question):
        if best is not None:
            question = replace(question, beaten=min(question.beaten, best.epsilon))
        answer = _asked(theorem, question, cost, False)
        if isinstance(answer, Refused):
            note(answer)
            continue
        for member in answer.evidence.get("left_out", ()):
            note(member)
        bound = _at_least_dp(answer, cost, secret)
        if best is None or (bound.epsilon, bound.tight) < (best.epsilon, best.tight):
            best = bound
        if bound.tight == "exact":
            break
    assert best is not None, "every population has a theorem that needs no time"
    return best


SECONDS_WHERE_EXACT = 1.0
"""The most that a theorem may take where another has found the exact level: it can't be lower."""


def quickest_first(question: Question) -> list[AnyTheorem]:
    """The theorems about the question's population, quick ones first."""
    about = [theorem for theorem in REGISTRY if theorem.concerns(question.population)]
    return sorted(about, key=lambda each: (each.expected_seconds(question), each.ends_early))


def _asked(theorem: AnyTheorem, question: Question, cost: Cost, exact: bool) -> Bound | Refused:
    """A theorem's word; refused if it runs out of time. `exact`: another has the exact level."""
    most = SECONDS_WHERE_EXACT if exact else math.inf
    try:
        timed = limited(theorem, question, most)
        reason = theorem.refusal(timed, cost)
        return theorem.bound(timed, cost) if reason is None else Refused(theorem.name, reason)
    except OutOfTimeError:
        return Refused(theorem.name, out_of_time(question, most))


def pure_level(theorem: AnyTheorem, question: Question, dp_epsilon: float) -> Bound | Refused:
    """One theorem's level of every mechanism of the pure cost `dp_epsilon`, or why it has none."""
    cost = Cost.of(dp_epsilon)
    answer = _asked(theorem, question, cost, False)
    return answer if isinstance(answer, Refused) else _at_least_dp(answer, cost, None)


def limited(theorem: AnyTheorem, question: Question, most: float = math.inf) -> Question:
    """The question with the deadline for one theorem and one level, in `most` seconds or less."""
    if theorem.asks_others:
        return question
    seconds = question.seconds if question.stop_after is None else question.stop_after
    return replace(question, deadline=question.deadline.within(min(seconds, most)))


def out_of_time(question: Question, most: float = math.inf) -> str:
    """The reason for which a theorem is refused that was stopped, and the remedy.

    How long it would have gone on is not known: the remedy is twice the time.
    """
    twice = 2.0 * question.seconds
    if question.deadline.passed:
        return OfTime("the time for all levels together was over", twice, estimated=False)
    if most < question.seconds:
        return f"it was stopped after {most:g} s, because another theorem has the exact level"
    why = f"it took longer than the {question.seconds:g} s allowed for one level"
    return OfTime(why, twice, estimated=False)


def _as_listed(answers: dict[str, _Answer]) -> list[_Answer]:
    """In the order of the registry."""
    return [answers[theorem.name] for theorem in REGISTRY if theorem.name in answers]


@dataclass(frozen=True, slots=True)
class ApproximateBound:
    """A proven `(epsilon, delta)` level by one theorem, `epsilon` in nats (theory 3.10)."""

    theorem: str
    epsilon: UpperBound
    delta: UpperBound
    source: str
    evidence: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ApproximateReport:
    """As `LeakageReport`, for `(dp_epsilon, dp_delta)`-DP mechanisms. Lowest epsilon first.

    The lowest epsilon has the lowest delta too. `bounds` is empty where every delta grows to 1 or
    more: there is no `best` then.
    """

    dp_epsilon: UpperBound
    dp_delta: UpperBound
    adversary: Adversary
    bounds: tuple[ApproximateBound, ...]
    refused: tuple[Refused, ...]

    def __str__(self) -> str:
        """The levels, lowest first and rounded up, then which theorems have none and why."""
        lines = [f"Levels against the adversary '{self.adversary}'"]
        lines += [
            f"  {up_words(bound.epsilon)} at delta {up_words(bound.delta)}  {bound.theorem}"
            for bound in self.bounds
        ]
        lines += [f"  {no.theorem} doesn't apply: {no.reason}" for no in self.refused]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The table that a notebook shows: the levels, lowest first, then who has none and why."""
        rows: list[tuple[object, ...]] = [
            (bound.theorem, up_words(bound.epsilon), up_words(bound.delta), bound.source)
            for bound in self.bounds
        ]
        rows += [(no.theorem, "", "", f"doesn't apply: {no.reason}") for no in self.refused]
        columns = ("theorem", "epsilon", "delta", "source")
        return notebook.table(f"Levels against the adversary '{self.adversary}'", columns, rows)

    @property
    def best(self) -> ApproximateBound:
        """The bound with the lowest epsilon."""
        return self.bounds[0]

    @property
    def bdp_epsilon(self) -> UpperBound:
        """The lowest level under Bayesian DP, in nats: that of `best`."""
        return self.best.epsilon

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `bayesdp leakage --delta --json` prints it."""
        return {
            "dp_epsilon": self.dp_epsilon,
            "dp_delta": self.dp_delta,
            "adversary": self.adversary,
            "bounds": [
                {
                    "theorem": bound.theorem,
                    "epsilon": bound.epsilon,
                    "delta": bound.delta,
                    "tight": "upper",
                    "source": bound.source,
                }
                for bound in self.bounds
            ],
            "refused": [refusal.to_dict() for refusal in self.refused],
            "best": {
                "theorem": self.best.theorem,
                "epsilon": self.best.epsilon,
                "delta": self.best.delta,
            }
            if self.bounds
            else None,
        }


def approximate(question: Question, cost: ApproxDP) -> ApproximateReport:
    """What a mechanism of this cost means under a population.

    Record `i` then satisfies `P[Y in S | x_i, x_K] <= e^epsilon P[Y in S | x_i', x_K] + delta`.
    Every theorem's level of pure mechanisms of this cost is a level with a delta too. The
    cost's epsilon is in nats, at least 0, its delta in [0, 1). Raises `InputError` for others.
    Source: theory 3.10.
    """
    require_question(cost.epsilon, question.adversary, "any", question.secrets)
    if not (isinstance(cost.delta, int | float) and 0.0 <= cost.delta < 1.0):
        raise InputError("dp_delta", cost.delta, expected="a probability below 1")
    pure = report(question, Cost(any=cost.epsilon))
    bounds, refused = [], list(pure.refused)
    for bound in pure.bounds:
        delta = delta_at(question, bound.epsilon, cost)
        if delta < 1.0 and math.isfinite(bound.epsilon):
            converted = (bound.theorem, bound.epsilon, delta, bound.source, bound.evidence)
            bounds.append(ApproximateBound(*converted))
        else:
            refused.append(Refused(bound.theorem, "it would have a delta of 1 or more"))
    bounds.sort(key=lambda bound: (bound.epsilon, bound.delta))
    return ApproximateReport(
        cost.epsilon, cost.delta, question.adversary, tuple(bounds), tuple(refused)
    )


def delta_at(question: Question, level: float, cost: ApproxDP) -> UpperBound:
    """The delta of `level`, a level of all mechanisms of this cost, rounded up (theory 3.10)."""
    return converted_delta(level, cost, question.group_size)


def _has_secret(question: Question) -> bool | None:
    """Whether some record has two values, of the population's or beside it."""
    return question.has_other_values or has_secret(question.population, question.adversary)


_ROUNDING_OF_NOTHING = 1e-300
"""A mechanism of cost 0 tells nothing: a level of it below this is a rounding error, and is 0."""


def _at_least_dp(bound: Bound, cost: Cost, secret: bool | None) -> Bound:
    """The bound, raised to the DP level where that is attained, and called exact only if it is.

    `secret` says whether some record has two possible values. Then `L(eps) >= eps` (theory 2.1): a
    lower number would be a rounding mistake, and a level of `eps` is attained. If it is `None`
    (unknown), the DP level is still a valid bound. If it is false, the true level is 0, but only
    `finite-law` may state that, as in the kernel: by any other theorem the level is an upper bound
    that is at least the DP level.
    """
    spent = cost.dp_epsilon
    nothing = spent == cost.slack == 0.0 and bound.epsilon < _ROUNDING_OF_NOTHING
    looked_into = secret is False and bound.theorem == FiniteLaw.name
    if nothing or (looked_into and bound.epsilon == 0.0):
        return replace(bound, epsilon=ZERO, tight="exact")
    epsilon = UpperBound(max(bound.epsilon, spent))
    if not secret:
        return replace(bound, epsilon=epsilon, tight="upper")
    tight = bound.tight if bound.epsilon >= spent else "upper"
    attained = LowerBound(epsilon if tight == "exact" else spent)
    return replace(bound, epsilon=epsilon, tight=tightness(epsilon, attained))


def require_question(dp_epsilon: float, adversary: str, kind: str, secrets: str) -> float:
    """`dp_epsilon` as a double. Raises `InputError` for any argument that can't be asked about."""
    cost = finite_number(
        "dp_epsilon", dp_epsilon, expected="a finite number of nats, at least 0", zero=True
    )
    for key, value, options in (
        ("adversary", adversary, ADVERSARIES),
        ("kind", kind, KINDS),
        ("secrets", secrets, SECRETS),
    ):
        if value not in options:
            raise InputError(key, value, expected="one of " + ", ".join(options))
    return cost
