"""Answers about levels, as plain data: one theorem's, those of all, the budget for a target.

The rooms above compute them (`theorems`, `calibration`). They are defined here, below the
populations, because a population's shortcuts (`population.leakage(...)`) return them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bayesdp.certificate import plain_number
from bayesdp.notions.vocabulary import Adversary, Cost, Secrets, Tightness


@dataclass(frozen=True, slots=True)
class Bound:
    """A proven level. `evidence` is what a re-check needs or what a reader may want to see.

    With a `delta` above 0 the level is `(epsilon, delta)`, and `proof` says how it follows: which
    Rényi order, and how pure costs were counted (`theorems.with_delta`).
    """

    theorem: str
    epsilon: float
    tight: Tightness
    source: str
    evidence: Mapping[str, Any] = field(default_factory=dict)
    delta: float = 0.0
    proof: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Refused:
    """A theorem that does not apply, and the hypothesis that fails, in words."""

    theorem: str
    reason: str


@dataclass(frozen=True, slots=True)
class LeakageReport:
    """Every applicable bound (lowest first), every refused theorem with its reason.

    `secrets` matters only to theorems about Gaussian populations. With a `delta`, levels are
    `(epsilon, delta)`, and `zcdp_cost` is the cost with every pure part counted as zCDP.
    """

    cost: Cost
    adversary: Adversary
    secrets: Secrets
    bounds: tuple[Bound, ...]
    refused: tuple[Refused, ...]
    delta: float = 0.0
    zcdp_cost: Cost | None = None

    def __repr__(self) -> str:
        delta = f" at delta {self.best.delta:g}" if self.best.delta > 0.0 else ""
        return (
            f"LeakageReport({self.best.epsilon!r}{delta} by {self.best.theorem}; "
            f"{len(self.bounds)} bounds, {len(self.refused)} refused)"
        )

    @property
    def best(self) -> Bound:
        """The lowest bound. An exact one wins ties."""
        return self.bounds[0]

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
            "refused": [{"theorem": r.theorem, "reason": r.reason} for r in self.refused],
            "best": {
                "theorem": self.best.theorem,
                "epsilon": plain_number(self.best.epsilon),
                **({"delta": self.best.delta} if self.delta > 0.0 else {}),
            },
        }


@dataclass(frozen=True, slots=True)
class Calibration:
    """The largest DP budget found whose certified level is at most `target`.

    `noise_multiplier` is `target / dp_epsilon`: how much more noise than for independent records.
    It is at least 1, because a DP mechanism leaks at least its DP level (theory 2.1).
    """

    target: float
    dp_epsilon: float
    certified_epsilon: float
    theorem: str

    @property
    def noise_multiplier(self) -> float:
        """`target / dp_epsilon`."""
        return self.target / self.dp_epsilon

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `bayesdp calibrate --json` prints it."""
        return {
            "target": self.target,
            "dp_epsilon": self.dp_epsilon,
            "certified_epsilon": self.certified_epsilon,
            "noise_multiplier": self.noise_multiplier,
            "theorem": self.theorem,
        }
