"""Answers about levels: the bound of a theorem, the bounds of all, the budget for a target.

The rooms above compute them (`theorems`, `calibration`). They are defined here, below the
populations, because a population's shortcuts (`population.leakage(...)`) return them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bayesdp import notebook
from bayesdp.notions.vocabulary import Adversary, Cost, Secrets, Tightness
from bayesdp.numbers import ZERO, LowerBound, UpperBound, plain_number, up_words
from bayesdp.statements.base import exact_text


@dataclass(frozen=True, slots=True)
class Bound:
    """A proven level by one theorem: an upper bound, in nats.

    `tight` is "exact" where some mechanism attains it, else "upper". `source` names the publication
    and the section of docs/theory.md. `evidence` is what a check needs again, or what a reader may
    want to see. An infinite level promises nothing. With a `delta` above 0 the level is `(epsilon,
    delta)`, and `proof` says how it follows: which Rényi order, and how pure costs were counted
    (`theorems.with_delta`).
    """

    theorem: str
    epsilon: UpperBound
    tight: Tightness
    source: str
    evidence: Mapping[str, Any] = field(default_factory=dict)
    delta: UpperBound = ZERO
    proof: Mapping[str, Any] = field(default_factory=dict)


class OfTime(str):
    """The reason for refusing a theorem that only takes too long: with `seconds` it is tried.

    `seconds` is an estimate of what one level takes, rounded up; where it is not `estimated`, the
    theorem was stopped, and they are only more than it was allowed.
    """

    __slots__ = ("estimated", "seconds")
    seconds: float
    estimated: bool

    def __new__(cls, why: str, needed: float, *, estimated: bool = True) -> OfTime:
        """The reason `why` with its remedy, for a theorem that takes about `needed` seconds."""
        seconds = float(f"{1.1 * needed:.2g}")
        unknown = "" if estimated else "; how long it takes is not known"
        reason = super().__new__(
            cls,
            f"{why}{unknown}: allow more with --seconds {seconds:g} (in Python seconds="
            f"{seconds:g}, in a study budget.seconds = {seconds:g})",
        )
        reason.seconds, reason.estimated = seconds, estimated
        return reason


@dataclass(frozen=True, slots=True)
class Refused:
    """A theorem that does not apply, and the hypothesis that fails, in words.

    If it only takes too long, the reason is an `OfTime`.
    """

    theorem: str
    reason: str

    @property
    def seconds(self) -> float | None:
        """The time for one level with which it is tried; `None` where more time would not help."""
        return self.reason.seconds if isinstance(self.reason, OfTime) else None

    def more_time(self, key: str) -> str:
        """What to allow by `key`, as in "--seconds 2 would do"; empty where time is no remedy."""
        if not isinstance(self.reason, OfTime):
            return ""
        allowed = f"{key}{self.reason.seconds:g}"
        if self.reason.estimated:
            return f"{allowed} would do"
        return f"it was stopped, and how long it takes is not known: {allowed} may do"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as in `--json`: `seconds` only where more time is the remedy."""
        plain: dict[str, Any] = {"theorem": self.theorem, "reason": str(self.reason)}
        return plain | ({} if self.seconds is None else {"seconds": self.seconds})


def left_out_for_time(refused: Iterable[Refused]) -> tuple[Refused, ...]:
    """The theorems that only take too long, each with the longest time that it needed."""
    slowest: dict[str, Refused] = {}
    for answer in sorted(refused, key=lambda answer: answer.seconds or 0.0):
        if answer.seconds is not None:
            slowest[answer.theorem] = answer
    return tuple(slowest.values())


def left_out_words(refused: Iterable[Refused]) -> str:
    """For a notebook: the theorems that were left out for time, with what would do."""
    return "".join(
        notebook.paragraph(f"Left out for time: {answer.theorem} ({answer.more_time('seconds=')}).")
        for answer in refused
    )


@dataclass(frozen=True, slots=True)
class LeakageReport:
    """What a DP cost means for a population: every bound, lowest first, and who has none and why.

    `refused` has the theorems whose hypotheses fail, with their reasons. `secrets` matters only to
    theorems about Gaussian populations. With a `delta`, levels are `(epsilon, delta)`, and
    `zcdp_cost` is the cost with every pure part counted as zCDP.
    """

    cost: Cost
    adversary: Adversary
    secrets: Secrets
    bounds: tuple[Bound, ...]
    refused: tuple[Refused, ...]
    delta: float = 0.0
    zcdp_cost: Cost | None = None

    def __repr__(self) -> str:
        delta = f" at delta {exact_text(self.best.delta)}" if self.best.delta > 0.0 else ""
        return (
            f"LeakageReport({self.best.epsilon!r}{delta} by {self.best.theorem}; "
            f"{len(self.bounds)} bounds, {len(self.refused)} refused)"
        )

    def __str__(self) -> str:
        """The levels, lowest first and rounded up, then which theorems have none and why."""
        lines = [f"Levels against the adversary '{self.adversary}'"]
        lines += [
            f"  {' at delta '.join([up_words(bound.epsilon), *self._delta(bound)])}"
            f"  {bound.theorem} ({bound.tight})"
            for bound in self.bounds
        ]
        lines += [f"  {no.theorem} doesn't apply: {no.reason}" for no in self.refused]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The table that a notebook shows: the levels, lowest first, then who has none and why."""
        rows: list[tuple[object, ...]] = [
            (bound.theorem, up_words(bound.epsilon), *self._delta(bound), bound.tight, bound.source)
            for bound in self.bounds
        ]
        blank = [""] * (3 if self.delta > 0.0 else 2)
        rows += [
            (refused.theorem, *blank, f"doesn't apply: {refused.reason}")
            for refused in self.refused
        ]
        delta = ["delta"] if self.delta > 0.0 else []
        columns = ("theorem", "level", *delta, "tight", "source")
        return notebook.table(f"Levels against the adversary '{self.adversary}'", columns, rows)

    def _delta(self, bound: Bound) -> list[str]:
        return [up_words(bound.delta)] if self.delta > 0.0 else []

    @property
    def best(self) -> Bound:
        """The lowest bound. An exact one wins ties."""
        return self.bounds[0]

    @property
    def dp_epsilon(self) -> float:
        """The pure DP cost that was asked about, in nats."""
        return self.cost.dp_epsilon

    @property
    def bdp_epsilon(self) -> UpperBound:
        """The lowest level under Bayesian DP, in nats: that of `best`."""
        return self.best.epsilon

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `bayesdp leakage --json` prints it; an infinite level is None."""
        with_delta = {"rho": self.cost.rho, "delta": self.delta} if self.delta > 0.0 else {}
        return {
            "dp_epsilon": self.cost.dp_epsilon,
            **with_delta,
            "adversary": self.adversary,
            "bounds": [
                {
                    "theorem": bound.theorem,
                    "epsilon": plain_number(bound.epsilon),
                    **({"delta": bound.delta} if self.delta > 0.0 else {}),
                    "tight": bound.tight,
                    "source": bound.source,
                }
                for bound in self.bounds
            ],
            "refused": [answer.to_dict() for answer in self.refused],
            "best": {
                "theorem": self.best.theorem,
                "epsilon": plain_number(self.best.epsilon),
                **({"delta": self.best.delta} if self.delta > 0.0 else {}),
            },
        }


@dataclass(frozen=True, slots=True)
class Calibration:
    """The largest DP budget found whose certified level is at most `target`, both in nats.

    `certified_epsilon` is the level of `dp_epsilon` by `theorem`, rounded up. `noise_multiplier` is
    at least 1, because a DP mechanism leaks at least its DP level (theory 2.1). `refused` are
    the theorems that took too long at a level that was tried and is not exact: with their
    `seconds` the budget may be larger.
    """

    target: float
    dp_epsilon: LowerBound
    certified_epsilon: UpperBound
    theorem: str
    refused: tuple[Refused, ...] = ()

    @property
    def noise_multiplier(self) -> float:
        """`target / dp_epsilon`: how much more noise than for independent records."""
        return self.target / self.dp_epsilon

    def _repr_html_(self) -> str:
        """What a notebook shows: the budget for the target, and what was left out for time."""
        numbers = (self.target, self.dp_epsilon, self.certified_epsilon, self.noise_multiplier)
        cells = [f"{number:.6g}" for number in numbers]
        cells[1], cells[2] = f"{self.dp_epsilon!r}", f"{self.certified_epsilon!r}"
        columns = ("target", "DP budget", "certified level", "times the noise", "theorem")
        budget = notebook.table("The largest DP budget", columns, [(*cells, self.theorem)])
        return budget + left_out_words(self.refused)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `bayesdp calibrate --json` prints it."""
        return {
            "target": self.target,
            "dp_epsilon": self.dp_epsilon,
            "certified_epsilon": self.certified_epsilon,
            "noise_multiplier": self.noise_multiplier,
            "theorem": self.theorem,
            "refused": [answer.to_dict() for answer in self.refused],
        }
