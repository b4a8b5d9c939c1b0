"""A release on two neighbouring databases: its obligations, and its loss.

Noise and scores are taken at the scale that the derivation claims: a claim that is too small makes
the true loss exceed the cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import inf, log, pi
from typing import Any

from bayesdp.programs.falsify import losses
from bayesdp.programs.falsify.findings import CheckedObligation
from bayesdp.programs.falsify.posteriors import (
    ConjugatePosterior,
    RoundedPosterior,
    distance_at_least,
    floats,
    hellinger,
    log_density,
    posterior,
    prior_of,
)
from bayesdp.programs.falsify.thresholds import first_above
from bayesdp.programs.falsify.values import Evaluator, as_fraction
from bayesdp.programs.falsify.witnesses import Database, Neighbours, evenly
from bayesdp.programs.ir import Expr, Release, expression

Seen = tuple[list[CheckedObligation], losses.Loss]


@dataclass(frozen=True)
class Trial:
    """A release with its claims, where the path's names have their values."""

    release: Release
    node: Mapping[str, Any]
    at: Evaluator
    size: int
    cached: dict[Database, Any] = field(default_factory=dict)

    @cached_property
    def epsilon(self) -> Fraction:
        """The claimed cost."""
        return Fraction(self.node["epsilon"])

    @cached_property
    def claimed(self) -> Fraction:
        """The claimed sensitivity (l2: its square)."""
        return self.at.numbers(expression(self.node["sensitivity"]["value"]), ())[0]

    @cached_property
    def scale(self) -> Fraction:
        """The sensitivity that scales the noise: the asserted sensitivity, else the claimed one."""
        asserted = dict(self.release.options).get("sensitivity")
        return self.claimed if asserted is None else self.at.numbers(asserted, ())[0]

    def option(self, name: str) -> Fraction:
        """The number of this option."""
        return self.at.numbers(dict(self.release.options)[name], ())[0]

    def cached_for(self, database: Database, make: Callable[[Database], Any]) -> Any:
        """A value that is computed once for each database."""
        if database not in self.cached:
            self.cached[database] = make(database)
        return self.cached[database]

    def compare(self, pair: Neighbours) -> Seen:
        """The findings on a pair, and its loss. Raises `Opaque` for a law that isn't computed."""
        return _COMPARE[self.release.op](self, pair)

    def obliged(
        self, obligation: str, true: Fraction | float, claimed: Fraction | float
    ) -> CheckedObligation:
        """A finding about this obligation of the release."""
        return CheckedObligation(obligation, self.release.name, true, claimed)


# -- noise ---------------------------------------------------------------------------------------


def _shifts(trial: Trial, pair: Neighbours) -> list[Fraction]:
    value = trial.release.args[0]
    here, there = (
        trial.cached_for(database, lambda rows: trial.at.numbers(value, rows))
        for database in (pair.left, pair.right)
    )
    return [a - b for a, b in zip(here, there, strict=True)]


def _laplace(trial: Trial, pair: Neighbours) -> Seen:
    shifts = _shifts(trial, pair)
    moved = sum((abs(shift) for shift in shifts), Fraction(0))
    findings = [trial.obliged("sensitivity", moved, trial.claimed), *_lipschitz(trial, pair, moved)]
    return findings, losses.laplace(
        [float(shift) for shift in shifts], float(trial.scale / trial.epsilon)
    )


def _lipschitz(trial: Trial, pair: Neighbours, moved: Fraction) -> Iterator[CheckedObligation]:
    """Kind lipschitz: the shift is at most the sensitivity times the share of the interval."""
    if trial.node["kind"] != "lipschitz" or pair.there is None:
        return
    low, high = (Fraction(end) for end in trial.node["interval"])
    here, there = (lipschitz_value(trial, place) for place in (pair.here, pair.there))
    assert here is not None
    assert there is not None
    share = abs(here - there) / (high - low) if high > low else Fraction(0)
    yield trial.obliged("lipschitz", moved, trial.claimed * share)


def lipschitz_value(trial: Trial, place: int) -> Fraction | None:
    """The row's value in the column and interval of a claim of kind lipschitz; else None."""
    if trial.node["kind"] != "lipschitz":
        return None
    low, high = (Fraction(end) for end in trial.node["interval"])
    return min(max(as_fraction(trial.at.rows[place][trial.node["column"]]), low), high)


def _gaussian(trial: Trial, pair: Neighbours) -> Seen:
    shifts = _shifts(trial, pair)
    squared = sum((shift * shift for shift in shifts), Fraction(0))
    findings = [trial.obliged("sensitivity", squared, trial.claimed)]
    sigma: float = trial.cached_for((-5,), lambda _: _sigma(trial))
    asserted = "sigma" in dict(trial.release.options)
    whole = len(shifts) == 1 and squared.denominator == 1
    if asserted and whole and squared and sigma < 200:
        shift = round(float(squared) ** 0.5)
        true = losses.discrete_delta(sigma, shift, float(trial.epsilon))
        findings.append(trial.obliged("noise", true, Fraction(trial.node["delta"])))
    return findings, losses.gaussian(float(squared), sigma)


def _sigma(trial: Trial) -> float:
    if "sigma" in dict(trial.release.options):
        return float(trial.option("sigma"))
    if not trial.claimed:
        return 0.0
    moved = float(trial.claimed) ** 0.5
    return losses.calibrated(float(trial.epsilon), float(Fraction(trial.node["delta"])), moved)


# -- scores --------------------------------------------------------------------------------------


MOST_CANDIDATES = 1000


def candidates(expr: Expr, at: Evaluator) -> list[Any]:
    """The candidates, numbers or distributions.

    Of many candidates a selection is taken: a choice among those is a mechanism too.
    """
    return evenly(listed(expr, at), MOST_CANDIDATES)


def listed(expr: Expr, at: Evaluator) -> list[Any]:
    """All candidates, without a selection."""
    if expr.op == "values":
        return [at.numbers(arg, ())[0] for arg in expr.args]
    if expr.op in ("linspace", "range"):
        a, b, c = (at.numbers(arg, ())[0] for arg in expr.args)
        if expr.op == "range":
            return [Fraction(number) for number in range(int(a), int(b), int(c))]
        return [a + (b - a) * i / (c - 1) for i in range(int(c))]
    if expr.op == "posteriors-of":
        before, n = prior_of(expr.args[0], at), int(at.numbers(expr.args[1], ())[0])
        shared = (
            counts for counts in product(range(n + 1), repeat=len(before)) if sum(counts) == n
        )
        return [
            ("dirichlet", tuple(a + k for a, k in zip(before, counts, strict=True)))
            for counts in shared
        ]
    axes = [listed(axis, at) for axis in expr.args]
    family = str(expr.data[0])
    return [_distribution(family, a, b) for a in axes[0] for b in axes[1]]


def _distribution(family: str, a: Fraction, b: Fraction) -> ConjugatePosterior:
    if family == "normal":
        return "normal", (a, b * b)
    return ("dirichlet" if family == "beta" else family), (a, b)


def _exponential(trial: Trial, pair: Neighbours) -> Seen:
    score, offered = trial.release.args
    scale = float(2 * trial.scale / trial.epsilon)
    if score.op == "hellinger":
        model = score.args[0].args[0]
        here, there = (
            trial.cached_for(database, lambda rows: posterior(model, trial.at, rows))
            for database in (pair.left, pair.right)
        )
        far = distance_at_least(here, there)
        findings = [trial.obliged("distance", far, trial.claimed)]
        if not scale:
            return findings, losses.TOLD_APART if far else losses.NOTHING
        options = trial.cached_for(
            (-1,), lambda _: [floats(c) for c in candidates(offered, trial.at)]
        )

        def law(key: Database) -> tuple[float, ...]:
            return _nearest(options, floats(trial.cached[key[1:]]), scale)

        return findings, losses.channel(
            *(trial.cached_for((-3, *d), law) for d in (pair.left, pair.right))
        )
    here, there = (
        trial.cached_for(database, lambda rows: _scores(trial, rows))
        for database in (pair.left, pair.right)
    )
    moved = max(abs(a - b) for a, b in zip(here, there, strict=True))
    findings = [trial.obliged("sensitivity", moved, trial.claimed)]
    if not scale:
        return findings, losses.NOTHING if not moved else losses.TOLD_APART
    weights = ([float(score) / scale for score in scores] for scores in (here, there))
    return findings, losses.channel(*(losses.softmax(scaled) for scaled in weights))


def _nearest(
    options: Sequence[RoundedPosterior], to: RoundedPosterior, scale: float
) -> tuple[float, ...]:
    return losses.softmax([-hellinger(option, to) / scale for option in options])


def _scores(trial: Trial, database: Database) -> list[Fraction]:
    score = trial.release.args[0]
    return [at.numbers(score.args[0], database)[0] for at in with_candidates(trial)]


def with_candidates(trial: Trial) -> list[Evaluator]:
    """For each candidate of an exponential mechanism the evaluator that has it by name."""
    score, offered = trial.release.args
    name = str(score.data[0])
    evaluators: list[Evaluator] = trial.cached_for(
        (-2,),
        lambda _: [
            trial.at.with_name(name, candidate) for candidate in candidates(offered, trial.at)
        ],
    )
    return evaluators


# -- answers of single records ---------------------------------------------------------------------


def _answers(trial: Trial, pair: Neighbours, law: Callable[[int], list[float]]) -> losses.Loss:
    data = trial.release.args[0]
    there = pair.there
    answer_given = [
        place is not None and trial.at.keeps_row(data, trial.at.rows[place])
        for place in (pair.here, there)
    ]
    if answer_given[0] != answer_given[1]:
        return losses.TOLD_APART  # another number of answers
    if not answer_given[0] or there is None:
        return losses.NOTHING
    return losses.channel(law(pair.here), law(there))


def _randomized_response(trial: Trial, pair: Neighbours) -> Seen:
    data, epsilon = trial.release.args[0], float(trial.epsilon)
    seen = [
        trial.at.of_row(data.args[1], trial.at.rows[place])
        for place in (pair.here, pair.there or 0)
    ]
    if seen[0] == seen[1]:
        return [], _answers(trial, pair, lambda _: [0.0])
    # Two answers, the own one exp(epsilon) as likely as any other: more labels add equal ones.
    laws_of = {0: losses.softmax([epsilon, 0.0]), 1: losses.softmax([0.0, epsilon])}
    loss = _answers(trial, pair, lambda place: list(laws_of[0 if place == pair.here else 1]))
    return [trial.obliged("answer", loss.pure, trial.epsilon)], loss


def _per_record(trial: Trial, pair: Neighbours) -> Seen:
    width = trial.claimed
    findings = []
    if pair.there is not None:
        here, there = (row_scores(trial, place) for place in (pair.here, pair.there))
        gaps = [abs(a - b) for a, b in zip(here, there, strict=True)]
        findings = [trial.obliged("sensitivity", max(gaps), width)]
    scale = float(2 * width / trial.epsilon)

    def law(place: int) -> list[float]:
        scores = row_scores(trial, place)
        return list(losses.softmax([float(s) / scale if scale else 0.0 for s in scores]))

    return findings, _answers(trial, pair, law)


def row_scores(trial: Trial, place: int) -> list[Fraction]:
    """The scores that a row gives the candidates of a choice on each record."""
    _, score, offered = trial.release.args
    name, row = str(score.data[0]), trial.at.rows[place]

    def computed(_: Database) -> list[Fraction]:
        return [
            as_fraction(trial.at.with_name(name, candidate).of_row(score.args[0], row))
            for candidate in candidates(offered, trial.at)
        ]

    scores: list[Fraction] = trial.cached_for((-4, place), computed)
    return scores


# -- posterior samples -----------------------------------------------------------------------------


def _posterior_sample(trial: Trial, pair: Neighbours) -> Seen:
    model, offered = trial.release.args
    grid = [float(candidate) for candidate in candidates(offered, trial.at)]
    held = [
        trial.cached_for(database, lambda rows: _log_likelihoods(trial, model, grid, rows))
        for database in (pair.left, pair.right)
    ]
    # What all candidates share changes nothing: one record's log-likelihood counts by its spread.
    gaps = [a - b for a, b in zip(*held, strict=True)]
    moved = (max(gaps) - min(gaps)) / (1 if pair.there is None else 2)
    power = float(trial.option("power"))
    prior = prior_of(model.args[2], trial.at)
    weights = [log_density(str(model.args[2].data[0]), prior, theta) for theta in grid]
    log_laws = [
        losses.softmax(
            [w + power * total for w, total in zip(weights, ll, strict=True) if w > -inf]
        )
        for ll in held
    ]
    return [trial.obliged("sensitivity", moved, trial.claimed)], losses.channel(*log_laws)


def _log_likelihoods(
    trial: Trial, model: Expr, grid: Sequence[float], database: Database
) -> list[float]:
    data, likelihood, _ = model.args
    total = [0.0] * len(grid)
    low, high = float(trial.option("low")), float(trial.option("high"))
    spread = [float(trial.at.numbers(arg, database)[0]) for arg in likelihood.args]
    for place in database:
        row = trial.at.rows[place]
        if not trial.at.keeps_row(data, row):
            continue
        x = float(as_fraction(trial.at.of_row(data.args[1], row)))
        for i, theta in enumerate(grid):
            logs = _log_likelihood(str(likelihood.data[0]), x, theta, spread, trial.size)
            total[i] += min(max(logs, low), high)
    return total


def _log_likelihood(family: str, x: float, theta: float, spread: list[float], size: int) -> float:
    if family == "bernoulli":
        chance = theta if x else 1 - theta
        return log(chance) if chance > 0 else -inf
    if family == "normal":
        return -((x - theta) ** 2) / (2 * spread[0] ** 2) - log(spread[0] ** 2 * 2 * pi) / 2
    rate = theta * spread[0] / max(size, 1)
    return x * log(rate) - rate if rate > 0 else (0.0 if not x else -inf)


# -- the first query above a threshold -------------------------------------------------------------


def _above_threshold(trial: Trial, pair: Neighbours) -> Seen:
    queries, threshold = trial.release.args
    here, there = (
        trial.cached_for(database, lambda rows: trial.at.numbers(queries, rows))
        for database in (pair.left, pair.right)
    )
    moved = max(abs(a - b) for a, b in zip(here, there, strict=True))
    findings = [trial.obliged("sensitivity", moved, trial.claimed)]
    scale = float(trial.scale / trial.epsilon)
    if not scale:
        return findings, losses.NOTHING if not moved else losses.TOLD_APART
    (limit,) = trial.at.numbers(threshold, ())
    log_laws = (
        first_above([float(query - limit) for query in queries], 2.5 * scale, 10 / 3 * scale)
        for queries in (here, there)
    )
    return findings, losses.channel(*log_laws)


_COMPARE: Mapping[str, Callable[[Trial, Neighbours], Seen]] = {
    "laplace": _laplace,
    "gaussian": _gaussian,
    "exponential": _exponential,
    "per-record-exponential": _per_record,
    "randomized-response": _randomized_response,
    "posterior-sample": _posterior_sample,
    "above-threshold": _above_threshold,
}
