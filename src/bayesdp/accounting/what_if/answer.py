"""The answer to what several releases cost together, and how it is shown as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bayesdp.accounting.expressions.prices import Price
from bayesdp.accounting.what_if.blocks import PublicBlock
from bayesdp.accounting.what_if.kinds import SecretsCondition
from bayesdp.accounting.what_if.releases import StatedRelease, by_measure
from bayesdp.accounting.what_if.rules import RuleResult
from bayesdp.notions import Adversary, ApproxDP
from bayesdp.numbers import Exact, UpperBound, plain_number
from bayesdp.populations import Population

MARGIN = 1e-9
"""Two levels count as different only beyond it: exact ones are right up to rounding."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A release with the level that it has alone, in nats (`bdp`).

    The cost and level of a channel are measured.
    """

    release: StatedRelease
    bdp: UpperBound

    def to_dict(self) -> dict[str, Any]:
        """The release as plain data for JSON."""
        release = self.release
        dp_epsilon, rho = by_measure(release.cost)
        delta = release.cost.delta if isinstance(release.cost, ApproxDP) else 0.0
        return {
            "name": release.name,
            "bdp_epsilon": plain_number(self.bdp),
            "dp_epsilon": dp_epsilon,
            "dp_delta": delta,
            "rho": rho,
            "block": None if release.block is None else release.block.to_dict(),
        }


@dataclass(frozen=True, slots=True)
class WhatIf:
    """What several releases cost together. Levels in nats.

    `naive` is the level that is claimed, which may be too low, `added` the sum of the releases'
    own levels, `sound` the proved level and `reason` why it holds. `exact` is what the channels
    leak together, `None` where a release has no channel; `price` is the DP cost, `None` where a
    release has none.
    """

    population: Population
    adversary: Adversary
    delta: float
    releases: tuple[Planned, ...]
    naive: float
    added: float
    sound: UpperBound
    reason: str
    price: Price | None
    exact: Exact | None
    attack: str
    condition: SecretsCondition | None = None
    rules: tuple[RuleResult, ...] = ()

    @property
    def violated(self) -> bool | None:
        """Whether the exact leakage lies above the naive claim; `None` without channels."""
        return None if self.exact is None else self.exact > self.naive + MARGIN

    @property
    def proved(self) -> bool:
        """Whether the naive claim is at least the proved level, and so follows all the same."""
        return self.naive >= self.sound - MARGIN

    @property
    def assuming(self) -> tuple[str, ...]:
        """The assumptions in words: that the columns of blocks by "column" are public."""
        blocks = [planned.release.block for planned in self.releases]
        columns = dict.fromkeys(block.column for block in blocks if isinstance(block, PublicBlock))
        return tuple(f"if '{column}' is public" for column in columns)

    def to_dict(self) -> dict[str, Any]:
        """What `bayesdp compose --json` prints, as plain data; an infinite level is None."""
        cost, steps, exact = None, None, None
        if self.price is not None:
            cost = {"dp_epsilon": self.price.dp_epsilon, "rho": self.price.rho}
            steps = self.price.step.to_dict()
        if self.exact is not None:
            exact = {"bdp": plain_number(self.exact), "attained_by": self.attack}
        return {
            "adversary": self.adversary,
            "delta": self.delta,
            "releases": [planned.to_dict() for planned in self.releases],
            "naive": {"added": plain_number(self.added), "claim": plain_number(self.naive)},
            "sound": {"bdp_epsilon": plain_number(self.sound), "reason": self.reason, "dp": cost},
            "exact": exact,
            "rules": [rule.to_dict() for rule in self.rules],
            "assuming": list(self.assuming),
            "condition": None if self.condition is None else self.condition.to_dict(),
            "violated": self.violated,
            "proved": self.proved,
            "steps": steps,
        }
