"""How DP costs compose: exact sums by kind of mechanism, and what one record pays of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bayesdp.kernel.arithmetic import exact, require
from bayesdp.kernel.blocks import heaviest
from bayesdp.statements.gaussian import GaussianVectors

Column = tuple[str, Fraction, Fraction, Fraction, Fraction, Fraction]
"""A column, the width it is clipped to, cost, slack, zCDP cost and its slack."""


@dataclass(frozen=True)
class Cost:
    """DP costs by kind of mechanism, exact, and zCDP costs of Gaussian noise beside them.

    `slack` is what the grid adds to Lipschitz costs; `columns` are those of vector records.
    """

    any: Fraction = Fraction(0)
    lipschitz: Fraction = Fraction(0)
    slack: Fraction = Fraction(0)
    columns: tuple[Column, ...] = ()
    rho_any: Fraction = Fraction(0)
    rho_lipschitz: Fraction = Fraction(0)
    rho_slack: Fraction = Fraction(0)

    @property
    def total(self) -> Fraction:
        """The pure DP cost of everything."""
        return self.any + self.lipschitz + sum((one[2] for one in self.columns), Fraction(0))

    @property
    def rho(self) -> Fraction:
        """The zCDP cost of everything that is Gaussian noise."""
        columns = sum((one[4] for one in self.columns), Fraction(0))
        return self.rho_any + self.rho_lipschitz + columns

    def is_close(self, derived: Cost) -> bool:
        """Whether these are the derived costs, rounded up, part by part."""
        names = ("any", "lipschitz", "slack", "rho_any", "rho_lipschitz", "rho_slack")
        ours, theirs = ([one[0] for one in cost.columns] for cost in (self, derived))
        return (
            ours == theirs
            and all(close(getattr(self, name), getattr(derived, name)) for name in names)
            and all(
                close(a, b)
                for one, other in zip(self.columns, derived.columns, strict=True)
                for a, b in zip(one[1:], other[1:], strict=True)
            )
        )


def close(stated: Fraction, derived: Fraction) -> bool:
    """A sum of doubles, rounded up."""
    tiny = Fraction(1, 2**1070)
    return (
        derived * (1 - Fraction(1, 10**12)) <= stated <= derived * (1 + Fraction(1, 10**9)) + tiny
    )


def counted(step: Mapping[str, Any]) -> str:
    """How a step counts pure costs: as `pure`, or as `zcdp`."""
    proof = step["evidence"].get("delta")
    how = "pure" if proof is None else proof["counted"]
    require(how in ("pure", "zcdp"), "costs are counted in an unknown way", step["rule"])
    return str(how)


def as_zcdp(spends: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The spends with every pure one as zCDP: `eps` is at most `eps^2 / 2` (theory 2.5)."""
    found: list[Mapping[str, Any]] = []
    for spend in spends:
        if exact(spend.get("rho", 0.0)) > 0:
            found.append(spend)
            continue
        rho, slack = (exact(spend[name]) ** 2 / 2 for name in ("dp_epsilon", "slack"))
        found.append({**spend, "dp_epsilon": 0.0, "rho": rho, "slack": slack})
    return found


def _parts(spends: Sequence[Mapping[str, Any]]) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """Pure cost and slack, zCDP cost and its slack: the most that one record pays of each."""
    kept: list[Mapping[str, Any]] = []
    for spend in spends:
        epsilon, rho = exact(spend["dp_epsilon"]), exact(spend.get("rho", 0.0))
        slack = exact(spend["slack"])
        require(min(epsilon, rho, slack) >= 0 and 0 in (epsilon, rho), "no such cost")
        parts = (epsilon, slack, Fraction(0), Fraction(0)) if rho == 0 else (0, 0, rho, slack)
        kept.append({**spend, "parts": parts})

    def most(place: int) -> Fraction:
        return heaviest(kept, lambda spend: Fraction(spend["parts"][place]))

    return most(0), most(1), most(2), most(3)


def summed(spends: Sequence[Mapping[str, Any]]) -> tuple[Fraction, Fraction]:
    """The most that one record pays in pure DP, and in zCDP."""
    pure = heaviest(spends, lambda spend: exact(spend["dp_epsilon"]))
    return pure, heaviest(spends, lambda spend: exact(spend.get("rho", 0.0)))


def compose(
    spends: Sequence[Mapping[str, Any]],
    population: Any,
    covers: Sequence[str],
    interval: tuple[Fraction, Fraction] | None = None,
) -> tuple[Cost, Any]:
    """What one record pays by kind at most, and where the Lipschitz part needs secrets to be.

    `interval` is where secrets lie. A Lipschitz spend counts as such only under a Gaussian
    population that covers its column, and only if its clipping interval contains that one, so that
    no two secrets are further apart than it is wide (theory 2.2); else it is one of kind `any`.
    """
    if isinstance(population, GaussianVectors):
        return _by_column(spends, population, covers)
    moved, still = list[Mapping[str, Any]](), list[Mapping[str, Any]]()
    scalar = is_gaussian(population) and len(covers) == 1
    for spend in spends:
        moves = scalar and spend["kind"] == "lipschitz" and spend["column"] == covers[0]
        (moved if moves and _contains(spend["interval"], interval) else still).append(spend)
    others, _, rest, _ = _parts(still)
    lipschitz, slack, rho_lipschitz, rho_slack = _parts(moved)
    where = [float(end) for end in interval] if moved and interval is not None else None
    return Cost(others, lipschitz, slack, (), rest, rho_lipschitz, rho_slack), where


def held(stated: Cost, spent: Cost, spends: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a cost whose kinds no theorem rests on is what was spent.

    It is stated as one of kind `any`, which has no slack, or by the kinds of the spends.
    """
    sums = close(stated.total, spent.total) and close(stated.rho, spent.rho)
    return sums and (stated.is_close(spent) or stated.is_close(_by_kind(spends)))


def _by_kind(spends: Sequence[Mapping[str, Any]]) -> Cost:
    others, _, rest, _ = _parts([spend for spend in spends if spend["kind"] == "any"])
    lipschitz, slack, rho, rho_slack = _parts(
        [spend for spend in spends if spend["kind"] == "lipschitz"]
    )
    return Cost(others, lipschitz, slack, (), rest, rho, rho_slack)


def is_gaussian(population: Any) -> bool:
    """Whether theorems about it look at kinds of mechanisms; `None` is no population at all."""
    return population is not None and population.model in ("gaussian", "autoregressive")


def _contains(clipped: Any, secrets: tuple[Fraction, Fraction] | None) -> bool:
    """Whether a clipping interval contains the one in which secrets lie."""
    if secrets is None:
        return False
    return exact(clipped[0]) <= secrets[0] < secrets[1] <= exact(clipped[1])


def _by_column(
    spends: Sequence[Mapping[str, Any]], population: GaussianVectors, covers: Sequence[str]
) -> tuple[Cost, Any]:
    groups: dict[tuple[str, float, float], list[Mapping[str, Any]]] = {}
    others: list[Mapping[str, Any]] = []
    for spend in spends:
        known = spend["column"] in population.columns and spend["column"] in covers
        if spend["kind"] == "lipschitz" and known:
            low, high = spend["interval"]
            groups.setdefault((spend["column"], low, high), []).append(spend)
        else:
            others.append(spend)
    columns = []
    for (column, low, high), group in sorted(groups.items()):
        columns.append((column, exact(high) - exact(low), *_parts(group)))
    other, _, rho, _ = _parts(others)
    bounds = dict(zip(population.columns, map(list, population.bounds), strict=True))
    cost = Cost(any=other, columns=tuple(columns), rho_any=rho)
    return cost, bounds if columns else None


def declared_cost(step: Mapping[str, Any]) -> Cost:
    """The cost as the step states it: what a conversion alone is about."""
    cost = step["evidence"]["cost"]
    parts = [exact(cost[name], f"cost: {name}") for name in ("any", "lipschitz", "slack")]
    names = ("rho_any", "rho_lipschitz", "rho_slack")
    rhos = [exact(cost.get(name, 0.0), f"cost: {name}") for name in names]
    columns: tuple[Column, ...] = tuple(
        (
            one["column"],
            exact(one["width"]),
            exact(one["dp_epsilon"]),
            exact(one["slack"]),
            exact(one.get("rho", 0.0)),
            exact(one.get("rho_slack", 0.0)),
        )
        for one in cost.get("by_column", [])
    )
    positive = min(*parts, *rhos) >= 0 and all(c[1] > 0 and min(c[2:]) >= 0 for c in columns)
    require(positive, "negative cost")
    return Cost(parts[0], parts[1], parts[2], columns, rhos[0], rhos[1], rhos[2])
