"""The words that every room uses: adversaries, kinds of mechanism, levels and costs.

Logarithms are natural, so every level is in nats. `dp_epsilon` is a mechanism's cost under
differential privacy with replace-one adjacency; the level of any other notion carries its notion.
What is claimed and what was spent are upper bounds (`numbers`): plain numbers are taken at their
word, and numbers that are known to be something else are refused.

## 1. Objects

* A **database** is `x = (x_1, ..., x_n)`: n records with values in a domain `W`. Two databases are
  *adjacent* if they differ in one record: adjacency is **replace one record**. Who is in the table,
  and `n`, are public.
* A **population** `pi` is the attacker's prior over databases `X`, conditional on everything that
  is declared public. It is the correlation model: it says who depends on whom.
* A **mechanism** `M` is a channel `P[y | x]` from databases to outputs. It is **eps-DP** if
  `P[y | x] <= e^eps P[y | x']` for all outputs `y` and adjacent `x, x'`. (For densities: with
  respect to a common measure, almost everywhere.)
* An **adversary** `(i, K)` attacks record `i` and knows the records in `K` exactly. All others, the
  set `U`, stay random.
* The **leakage** of `M` to `(i, K)` is the supremum of

  ```text
  ln P[y | x_i, x_K] - ln P[y | x_i', x_K]
  ```

  over outputs `y` and values `x_i, x_i', x_K` such that both conditions have positive probability
  under `pi`; the unknown records are integrated out under `pi( . | x_i, x_K)`. For a continuous
  population a version of the conditional law is fixed, for a Gaussian one the usual one. `M` is
  **epsilon-BDP** (Bayesian differential privacy) if the leakage to every `(i, K)` of the class at
  hand is at most `epsilon`.
* **Classes of adversaries**: `any` (all sets `K`; the default), `uninformed` (`K` empty),
  `informed` (`K` is everybody else). A level says nothing unless its class is named. For
  `informed`, leakage is the DP cost itself, restricted to databases that are possible.
* A level is *relative to the declared population*. For a family of populations it is the supremum
  over its members.

*Source:* Yang, Sato and Nakagawa (SIGMOD 2015) for BDP; the classes follow Tschantz, Sen and Datta
(S&P 2020), where `uninformed` is "Bayesian_0".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Literal, get_args

from bayesdp.errors import InputError, finite_number
from bayesdp.numbers import ZERO, UpperBound, as_upper_bound
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


def _spent(key: str, value: float) -> UpperBound:
    """A cost that is finite and at least 0. What kind of number it was, a budget say, is past."""
    finite_number(key, value, expected="a finite number >= 0", zero=True)
    return as_upper_bound(float(value) if isinstance(value, float) else value)


def _upper_bounds(owner: object, *names: str) -> None:
    """Makes upper bounds of these fields of `owner`; a plain number is taken at its word.

    Raises `InputError` naming a field that is not a number, and `TypeError` where it is known to be
    something else than an upper bound.
    """
    for name in names:
        value = getattr(owner, name)
        if type(value) is not UpperBound:
            if not isinstance(value, Real):
                raise InputError(name, value, expected="a number")
            object.__setattr__(owner, name, as_upper_bound(value))


@dataclass(frozen=True, slots=True)
class Claim:
    """A level of a notion, together with everything that it needs to mean something.

    `epsilon` is in nats; `adversary` is the class of adversaries that it holds against; `scope`
    names the populations that it holds for. `secrets` is set for those theorems about Gaussian
    populations that hold only for secret values inside an interval. Raises `InputError` for levels
    that are not numbers.
    """

    notion: Notion
    epsilon: UpperBound
    delta: UpperBound = ZERO
    adversary: Adversary = "any"
    scope: str = "the declared population"
    secrets: Secrets | None = None

    def __post_init__(self) -> None:
        _upper_bounds(self, "epsilon", "delta")


@dataclass(frozen=True, slots=True)
class PureDP:
    """A mechanism is `epsilon`-DP: probabilities change by a factor of at most `e^epsilon`.

    That is where one record is replaced; `epsilon` is in nats. Raises `InputError` for anything but
    a number.
    """

    epsilon: UpperBound

    def __post_init__(self) -> None:
        _upper_bounds(self, "epsilon")

    @property
    def dp_epsilon(self) -> UpperBound:
        """The epsilon, by the name that says of which notion it is."""
        return self.epsilon


@dataclass(frozen=True, slots=True)
class ApproxDP:
    """A mechanism is `(epsilon, delta)`-DP: a delta of 1 or more says nothing.

    `epsilon` is in nats. Raises `InputError` for anything but numbers.
    """

    epsilon: UpperBound
    delta: UpperBound

    def __post_init__(self) -> None:
        _upper_bounds(self, "epsilon", "delta")

    @property
    def dp_epsilon(self) -> UpperBound:
        """The epsilon, by the name that says of which notion it is."""
        return self.epsilon

    @property
    def dp_delta(self) -> UpperBound:
        """The delta of that epsilon."""
        return self.delta


@dataclass(frozen=True, slots=True)
class ZCDP:
    """A mechanism is `rho`-zCDP: its Rényi divergence of every order `a > 1` is at most `a rho`.

    For databases that differ in one record. Source: Bun & Steinke 2016, Definition 1.1; theory 2.5.
    Raises `InputError` for anything but a number.
    """

    rho: UpperBound

    def __post_init__(self) -> None:
        _upper_bounds(self, "rho")


@dataclass(frozen=True, slots=True)
class ColumnCost:
    """What has been spent on one column by mechanisms that are Lipschitz in it.

    `width` is the length of the interval that they clip to, in the column's unit; `dp_epsilon` and
    `slack`, `rho` and `rho_slack` are as `lipschitz` and `slack`, `rho_lipschitz` and `rho_slack`
    in `Cost`. Raises `InputError` for a number that is negative or not finite, and a width of 0.
    """

    column: str
    width: float
    dp_epsilon: UpperBound
    slack: UpperBound = ZERO
    rho: UpperBound = ZERO
    rho_slack: UpperBound = ZERO

    def __post_init__(self) -> None:
        names = ("dp_epsilon", "slack", "rho", "rho_slack")
        for name in ("width", *names):
            value = getattr(self, name)
            finite_number(f"cost.{name}", value, expected="a finite number >= 0", zero=True)
        if self.width == 0.0:
            raise InputError("cost.width", 0.0, expected="a number > 0")
        _upper_bounds(self, *names)


@dataclass(frozen=True, slots=True)
class Cost:
    """What has been spent under DP, split by the kind of the mechanisms.

    All parts are sums in nats, at least 0 and finite, else `InputError` is raised; and upper
    bounds: a lower bound raises `TypeError`.
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

    any: UpperBound = ZERO
    lipschitz: UpperBound = ZERO
    slack: UpperBound = ZERO
    by_column: tuple[ColumnCost, ...] = ()
    rho_any: UpperBound = ZERO
    rho_lipschitz: UpperBound = ZERO
    rho_slack: UpperBound = ZERO
    dp_delta: UpperBound = ZERO

    def __post_init__(self) -> None:
        rhos = ("rho_any", "rho_lipschitz", "rho_slack")
        names = ("any", "lipschitz", "slack", *rhos, "dp_delta")
        for name in names:
            value = getattr(self, name)
            finite_number(f"cost.{name}", value, expected="a finite number >= 0", zero=True)
        _upper_bounds(self, *names)

    @classmethod
    def of(cls, dp_epsilon: float, kind: Kind = "any", *, rho: float = 0.0) -> Cost:
        """The cost of a mechanism of this kind, or of a pure and a Gaussian one together.

        `dp_epsilon` is the pure cost in nats, `rho` the zCDP cost; plain numbers, such as a budget
        that is all spent, are taken at their word. Raises `InputError` for a number that is
        negative or not finite.
        """
        pure, zcdp = _spent(f"cost.{kind}", dp_epsilon), _spent(f"cost.rho_{kind}", rho)
        if kind == "any":
            return cls(any=pure, rho_any=zcdp)
        return cls(lipschitz=pure, rho_lipschitz=zcdp)

    @property
    def dp_epsilon(self) -> float:
        """The DP sum, rounded up. A plain number: it is the cost that engines are asked about.

        They bound a level of it from both sides. Who says what was spent makes it an `UpperBound`.
        """
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


def _sum_up(parts: tuple[UpperBound, ...]) -> float:
    above = [part for part in parts if part > 0.0]
    total = math.fsum(above)
    return total if len(above) < 2 else math.nextafter(total, math.inf)
