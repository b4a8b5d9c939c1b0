"""The answer to what several releases cost together, and how it is shown as plain data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..leakage.tensor import Floats
from ..notions import Adversary
from ..populations import Population
from .expressions import Mechanism, Price
from .what_if_deltas import Composed
from .what_if_kinds import Condition, Lipschitz

MARGIN = 1e-9
"""Exact levels and proved ones are told apart only beyond it."""


@dataclass(frozen=True, slots=True)
class Planned:
    """One release of the list. `block` tells naive blocks apart; `bdp` is its own level.

    `lipschitz` is `None` for releases of kind `any`.
    """

    mechanism: Mechanism
    block: Mapping[str, Any] | None
    channel: Floats | None
    bdp: float
    lipschitz: Lipschitz | None = None
    dp_delta: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "name": self.mechanism.name,
            "bdp_epsilon": _plain(self.bdp),
            "dp_epsilon": self.mechanism.dp_epsilon,
            "dp_delta": self.dp_delta,
            "rho": self.mechanism.rho,
            "block": self.block,
        }


@dataclass(frozen=True, slots=True)
class WhatIf:
    """The answer. Levels in nats; `exact` is None without channels, `price` where no DP cost is.

    `violated` says whether the exact leakage lies above the naive claim (None without channels),
    `proved` whether the naive claim is at least the sound level.
    """

    population: Population
    adversary: Adversary
    delta: float
    releases: tuple[Planned, ...]
    naive: float
    added: float
    sound: float
    reason: str
    price: Price | None
    exact: float | None
    attack: str
    condition: Condition | None = None
    rules: tuple[Composed, ...] = ()

    @property
    def violated(self) -> bool | None:
        """Whether the naive claim is false for these very channels."""
        return None if self.exact is None else self.exact > self.naive + MARGIN

    @property
    def proved(self) -> bool:
        """Whether the naive claim follows all the same."""
        return self.naive >= self.sound - MARGIN

    @property
    def assuming(self) -> tuple[str, ...]:
        """What is taken on trust: that the columns of blocks by "column" are public."""
        blocks = [release.block for release in self.releases if release.block is not None]
        columns = dict.fromkeys(block["column"] for block in blocks if "column" in block)
        return tuple(f"if '{column}' is public" for column in columns)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `bayesdp compose --json` prints it; an infinite level is None."""
        dp = None if self.price is None else self.price.step.to_dict()
        cost = None
        if self.price is not None:
            cost = {"dp_epsilon": self.price.dp_epsilon, "rho": self.price.rho}
        return {
            "adversary": self.adversary,
            "delta": self.delta,
            "releases": [release.to_dict() for release in self.releases],
            "naive": {"added": _plain(self.added), "claim": _plain(self.naive)},
            "sound": {"bdp_epsilon": _plain(self.sound), "reason": self.reason, "dp": cost},
            "exact": None
            if self.exact is None
            else {"bdp": _plain(self.exact), "attained_by": self.attack},
            "rules": [rule.to_dict() for rule in self.rules],
            "assuming": list(self.assuming),
            "condition": None if self.condition is None else self.condition.to_dict(),
            "violated": self.violated,
            "proved": self.proved,
            "steps": dp,
        }


def _plain(value: float) -> float | None:
    return value if math.isfinite(value) else None
