"""The audit of a study: its claimed level, and the strongest attack on its releases.

Tables are made up; the study's own is not read, nothing is debited and nothing is released.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesdp.arrays import Floats, Ints
from bayesdp.audit.bound import (
    MOST_SAMPLES,
    EmpiricalBound,
    Score,
    choose_event,
    estimate,
)
from bayesdp.audit.contents import DeclaredRecords
from bayesdp.audit.hypotheses import Hypotheses, hypotheses
from bayesdp.audit.tables import ExactIntegers, MadeUp, centres, like_released, released
from bayesdp.errors import InputError, UnsupportedError, inner_probability, whole_number
from bayesdp.mechanisms import DiscreteLaplace
from bayesdp.numbers import UpperBound
from bayesdp.populations import Population
from bayesdp.release.price.plan import Plan
from bayesdp.release.spec.study import FROM_DATA
from bayesdp.release.study import Study

SAMPLES = 20_000
CONFIDENCE = 0.999
TRIED = 3000
"""The samples of each pair of hypotheses among which the strongest is chosen."""

MOST_NUMBERS = 1_000_000
"""The most numbers drawn for the strongest attack: releases of many numbers get fewer samples."""

_MIXED = 100
"""The most tables of a hypothesis that the likelihood of a release is averaged over."""


@dataclass(frozen=True)
class StudyAudit:
    """The claim of a study and the strongest attack on it.

    `claimed` is the level of its plan, in nats, at `delta`. `bound` is what the strongest attack
    shows with the bound's confidence: the level is at least `bound.epsilon`. `attack` says in words
    which hypotheses it tells apart, and `tried` how many pairs were tried. `exceeded` is whether
    the claim is refuted.
    """

    claimed: UpperBound
    delta: float
    notion: str
    attack: str
    bound: EmpiricalBound
    tried: int

    @property
    def exceeded(self) -> bool:
        """Whether the attack shows more than is claimed."""
        return self.bound.exceeds(self.claimed)

    @property
    def gap(self) -> float:
        """The claim less what was shown: below 0 where the claim is refuted."""
        return self.claimed - self.bound.epsilon

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `bayesdp audit --json` prints it."""
        bound = self.bound
        return {
            "claimed": self.claimed,
            "delta": self.delta,
            "notion": self.notion,
            "lower_bound": bound.epsilon,
            "confidence": bound.confidence,
            "exceeded": self.exceeded,
            "gap": self.gap,
            "attack": {
                "hypotheses": self.attack,
                "event": bound.event,
                "likelier_under": bound.towards,
                "hits": list(bound.hits),
                "samples": bound.samples,
                "pairs_tried": self.tried,
            },
        }


def audit_study(
    study: Study,
    *,
    samples: int = SAMPLES,
    confidence: float = CONFIDENCE,
    rng: np.random.Generator | None = None,
) -> StudyAudit:
    """Attack the releases of a study, and hold what the strongest attack shows against its level.

    Tables are made up as the study declares them, with a few records beside the attacked group.
    They go through the engine to the integers that get noise, and the noise is drawn as a release
    draws it. Pairs of hypotheses are compared by `TRIED` samples each; the one with the largest
    bound is attacked anew with `samples` for each hypothesis, half of which choose an event and
    half of which estimate it. With the probability `1 - confidence` at most the bound is wrong.
    `rng` draws the tables (not the noise), and is made new if left out. Reads no table, and spends
    nothing.

    Raises `InputError` for arguments that are wrong, `UnsupportedError` for studies that can't be
    attacked, and `Refusal` where the study can't be priced.
    """
    spec = study.spec
    if spec.data.n == FROM_DATA:
        declared = DeclaredRecords.of(spec)  # what can't be attacked is said first
        raise UnsupportedError(
            "data.n",
            FROM_DATA,
            expected="a number of records, to price the study without its table",
            remedy=f"Audit a copy of the study that states n, such as {len(declared.places) + 2}.",
        )
    plan = study.check().plan
    return audit_plan(plan, samples=samples, confidence=confidence, rng=rng)


def audit_plan(
    plan: Plan,
    *,
    population: Population | None = None,
    samples: int = SAMPLES,
    confidence: float = CONFIDENCE,
    rng: np.random.Generator | None = None,
) -> StudyAudit:
    """The same for the `plan` of a study, whatever it was made from.

    `population` is the law that the tables are drawn from; the study's own, if it is left out.
    `samples`, `confidence` and `rng` are as in `audit_study`. Raises `InputError` for these and for
    a plan without numbers, and `UnsupportedError` where nothing can be attacked.
    """
    samples = whole_number("samples", samples, least=1000, most=MOST_SAMPLES)
    inner_probability("confidence", confidence, example="0.999")
    rng = rng or np.random.default_rng()
    made = MadeUp(DeclaredRecords.of(plan.study), plan)
    if not plan.queries:
        raise InputError("query", shown=False, expected="a query whose numbers get noise")
    pairs = hypotheses(made, population or plan.study.population, rng)
    if not pairs:
        raise UnsupportedError(
            "query",
            shown=False,
            expected="a query that reads something about which the study's level speaks",
            remedy="No value of a record that was tried moves any number of the release.",
        )
    numbers = sum(query.numbers for query in plan.queries)
    samples = min(samples, max(1000, MOST_NUMBERS // (2 * numbers)))
    strongest = pairs[0]
    if len(pairs) > 1:
        tried = min(TRIED, samples, max(500, MOST_NUMBERS // (2 * numbers * len(pairs))))
        promises = [_promise(made, pair, tried, confidence, rng) for pair in pairs]
        strongest = pairs[int(np.argmax(promises))]
    bound = _attacked(made, strongest, samples, confidence, rng)
    notion = plan.study.budget.notion
    return StudyAudit(
        UpperBound(plan.level), plan.delta, notion, strongest.words, bound, len(pairs)
    )


def _promise(
    made: MadeUp, pair: Hypotheses, tried: int, confidence: float, rng: np.random.Generator
) -> float:
    """What the best event on a few samples shows there: to compare pairs by, and no bound."""
    first, second = (_sides(made, pair, tried, rng, first=side) for side in (True, False))
    score = _likelihoods(made.plan, first, second)
    outcomes = [like_released(made.plan, *side) for side in (first, second)]
    return choose_event(outcomes[0], outcomes[1], confidence, made.plan.delta, score)[1]


def _attacked(
    made: MadeUp, pair: Hypotheses, samples: int, confidence: float, rng: np.random.Generator
) -> EmpiricalBound:
    """The bound of one pair: an event chosen on one half, and estimated on the other."""
    half, delta, plan = samples // 2, made.plan.delta, made.plan
    first, second = (_sides(made, pair, half, rng, first=side) for side in (True, False))
    score = _likelihoods(plan, first, second)
    event, _ = choose_event(
        released(plan, *first), released(plan, *second), confidence, delta, score
    )
    fresh = [released(plan, *_sides(made, pair, half, rng, first=side)) for side in (True, False)]
    return estimate(event, fresh[0], fresh[1], confidence, delta)


def _sides(
    made: MadeUp, pair: Hypotheses, count: int, rng: np.random.Generator, *, first: bool
) -> tuple[ExactIntegers, Ints]:
    """Tables under one hypothesis: the integers of the different ones, and which table is which."""
    databases, places = (pair.first if first else pair.second)(count, rng).distinct()
    return made.exact(databases), places


def _likelihoods(
    plan: Plan, first: tuple[ExactIntegers, Ints], second: tuple[ExactIntegers, Ints]
) -> list[tuple[str, Score]]:
    """The log ratio of the likelihoods of a release, averaged over tables of each hypothesis."""
    sides = []
    for exact, places in (first, second):
        numbers, counts = np.unique(places, return_counts=True)
        most = numbers[np.argsort(-counts)][:_MIXED]
        weights = counts[np.argsort(-counts)][:_MIXED]
        part = ExactIntegers(
            tuple(tuple(totals[i] for i in most.tolist()) for totals in exact.totals)
        )
        values, scales, laws = centres(plan, part)
        sides.append((values, np.log(weights / weights.sum())))
    used = np.isfinite(scales)
    if not used.any():
        return []
    laplace = np.array([isinstance(law, DiscreteLaplace) for law in laws])[used]

    def score(outcomes: Floats) -> Floats:
        logs = []
        for values, weights in sides:
            total = np.zeros((len(outcomes), len(weights))) + weights
            for column, place in enumerate(np.flatnonzero(used)):
                apart = (outcomes[:, place, None] - values[None, :, place]) / scales[place]
                total += -np.abs(apart) if laplace[column] else -0.5 * apart**2
            top = total.max(axis=1, keepdims=True)
            logs.append(top[:, 0] + np.log(np.exp(total - top).sum(axis=1)))
        ratio: Floats = logs[0] - logs[1]
        return np.round(ratio, 9)

    return [("the log ratio of likelihoods", score)]
