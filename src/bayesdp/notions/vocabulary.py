"""The words that every room uses: adversaries, kinds of mechanism, levels and costs.

Logarithms are natural, so every level is in nats. `dp_epsilon` is a mechanism's cost under
differential privacy with replace-one adjacency; the level of any other notion carries its notion.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

from bayesdp.errors import InputError, finite_number
from bayesdp.statements.assumptions import ROUNDING

Notion = Literal["dp", "bdp"]
Adversary = Literal["any", "uninformed", "informed"]
Kind = Literal["any", "lipschitz"]
Secrets = Literal["bounded", "unbounded"]
Tightness = Literal["exact", "upper"]

NOTIONS: tuple[Notion, ...] = get_args(Notion)
ADVERSARIES: tuple[Adversary, ...] = get_args(Adversary)
KINDS: tuple[Kind, ...] = get_args(Kind)
SECRETS: tuple[Secrets, ...] = get_args(Secrets)

ADVERSARY_MEANING: dict[Adversary, str] = {
    "any": "they may know any of the other records exactly, none, some or all",
    "uninformed": "they know the population, and none of the records",
    "informed": "they know every record except the one they attack",
}
"""What the adversaries of a class know."""

ROUNDING_IN_WORDS = f"computed in double precision and rounded up; on a certificate {ROUNDING}"
"""How levels are rounded, as reports say it."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A level of a notion, together with everything that it needs to mean something.

    `epsilon` is in nats; `adversary` is the class of adversaries that it holds against; `scope`
    names the populations that it holds for. `secrets` is set for those theorems about Gaussian
    populations that hold only for secret values inside an interval.
    """

    notion: Notion
    epsilon: float
    delta: float = 0.0
    adversary: Adversary = "any"
    scope: str = "the declared population"
    secrets: Secrets | None = None


@dataclass(frozen=True, slots=True)
class PureDP:
    """A mechanism is `epsilon`-DP: probabilities change by a factor of at most `e^epsilon`.

    That is where one record is replaced; `epsilon` is in nats.
    """

    epsilon: float


@dataclass(frozen=True, slots=True)
class ApproxDP:
    """A mechanism is `(epsilon, delta)`-DP: a delta of 1 or more says nothing.

    `epsilon` is in nats.
    """

    epsilon: float
    delta: float


@dataclass(frozen=True, slots=True)
class ZCDP:
    """A mechanism is `rho`-zCDP: its Rényi divergence of every order `a > 1` is at most `a rho`.

    For databases that differ in one record. Source: Bun & Steinke 2016, Definition 1.1; theory 2.5.
    """

    rho: float


@dataclass(frozen=True, slots=True)
class ColumnCost:
    """What has been spent on one column by mechanisms that are Lipschitz in it.

    `width` is the length of the interval that they clip to, in the column's unit; `dp_epsilon` and
    `slack`, `rho` and `rho_slack` are as `lipschitz` and `slack`, `rho_lipschitz` and `rho_slack`
    in `Cost`. Raises `InputError` for a number that is negative or not finite, and a width of 0.
    """

    column: str
    width: float
    dp_epsilon: float
    slack: float = 0.0
    rho: float = 0.0
    rho_slack: float = 0.0

    def __post_init__(self) -> None:
        for name in ("width", "dp_epsilon", "slack", "rho", "rho_slack"):
            value = getattr(self, name)
            finite_number(f"cost.{name}", value, expected="a finite number >= 0", zero=True)
        if self.width == 0.0:
            raise InputError("cost.width", 0.0, expected="a number > 0")


@dataclass(frozen=True, slots=True)
class Cost:
    """What has been spent under DP, split by the kind of the mechanisms.

    All parts are sums in nats, at least 0 and finite, else `InputError` is raised.
    `any` is the summed dp_epsilon of mechanisms about which nothing more is known, `lipschitz` of
    those that are Lipschitz in the l1 distance of the clipped records (theory 3.8).
    `slack` is the sum over the latter of dp_epsilon times the relative grid slack of one dependent
    record (theory 6): how much rounding to the grid can add for each record that changes.
    `by_column` holds the Lipschitz mechanisms column by column where records are vectors (theory
    3.8 f); they are not in `lipschitz` then.

    Gaussian mechanisms have no pure cost. Their zCDP cost (Bun & Steinke 2016) is kept beside it,
    by the same kinds: `rho_any`, `rho_lipschitz`, and `rho_slack`, the sum of what the grid's extra
    steps of one dependent record cost on their own (theory 2.5, 3.8 e).

    `dp_delta` is the sum of the deltas that (dp_epsilon, dp_delta)-DP mechanisms state. Theorems
    about a `Cost` refuse one above 0; theory 2.6b and 3.10 say where it is read.
    """

    any: float = 0.0
    lipschitz: float = 0.0
    slack: float = 0.0
    by_column: tuple[ColumnCost, ...] = ()
    rho_any: float = 0.0
    rho_lipschitz: float = 0.0
    rho_slack: float = 0.0
    dp_delta: float = 0.0

    def __post_init__(self) -> None:
        rhos = ("rho_any", "rho_lipschitz", "rho_slack")
        for name in ("any", "lipschitz", "slack", *rhos, "dp_delta"):
            value = getattr(self, name)
            finite_number(f"cost.{name}", value, expected="a finite number >= 0", zero=True)

    @classmethod
    def of(cls, dp_epsilon: float, kind: Kind = "any", *, rho: float = 0.0) -> Cost:
        """The cost of a mechanism of this kind, or of a pure and a Gaussian one together.

        `dp_epsilon` is the pure cost in nats, `rho` the zCDP cost. Raises `InputError` for a number
        that is negative or not finite.
        """
        if kind == "any":
            return cls(any=dp_epsilon, rho_any=rho)
        return cls(lipschitz=dp_epsilon, rho_lipschitz=rho)

    @property
    def dp_epsilon(self) -> float:
        """The DP sum, rounded up. A plain number: it is the cost that engines are asked about."""
        columns = [spent.dp_epsilon for spent in self.by_column]
        return _sum_up((self.any, self.lipschitz, *columns))

    @property
    def rho(self) -> float:
        """The zCDP sum of the Gaussian mechanisms, rounded up; it comes on top of `dp_epsilon`."""
        columns = [spent.rho for spent in self.by_column]
        return _sum_up((self.rho_any, self.rho_lipschitz, *columns))

    @property
    def is_zero(self) -> bool:
        """Whether nothing at all has been spent."""
        return self.dp_epsilon == 0.0 and self.rho == 0.0


def _sum_up(parts: tuple[float, ...]) -> float:
    above = [part for part in parts if part > 0.0]
    total = math.fsum(above)
    return total if len(above) < 2 else math.nextafter(total, math.inf)
