"""How DP costs compose: exact sums by kind of mechanism, and what one record pays of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

from bayesdp.kernel.arithmetic import exact, require
from bayesdp.kernel.costs.blocks import added, heaviest
from bayesdp.statements import conversions
from bayesdp.statements.gaussian import GaussianVectors
from bayesdp.statements.populations import Population
from bayesdp.statements.spends import COLLECTED, Block, Spend

HARDLY_LESS = 1 - Fraction(1, 10**12)
"""A stated sum may be so many times the derived one, where doubles were added in another order."""
HARDLY_MORE = 1 + Fraction(1, 10**9)
"""A stated sum may be so many times the derived one, as each of its parts was rounded up."""
TINY = Fraction(1, 2**1070)
"""And so much more, of doubles so small that they have few digits."""
SecretsInterval = list[float] | dict[str, list[float]] | None
"""Where secrets must lie, in one interval or one for each column; `None` is anywhere."""


class Column(NamedTuple):
    """What the spends on one column cost, and the width that it is clipped to."""

    name: str
    width: Fraction
    pure: Fraction
    slack: Fraction
    rho: Fraction
    rho_slack: Fraction


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

    @cached_property
    def total(self) -> Fraction:
        """The pure DP cost of everything."""
        return added([self.any, self.lipschitz, *(column.pure for column in self.columns)])

    @cached_property
    def rho(self) -> Fraction:
        """The zCDP cost of everything that is Gaussian noise."""
        columns = (column.rho for column in self.columns)
        return added([self.rho_any, self.rho_lipschitz, *columns])

    def is_close(self, derived: Cost) -> bool:
        """Whether these are the derived costs, rounded up, part by part."""
        names = ("any", "lipschitz", "slack", "rho_any", "rho_lipschitz", "rho_slack")
        ours, theirs = ([column.name for column in cost.columns] for cost in (self, derived))
        return (
            ours == theirs
            and all(close(getattr(self, name), getattr(derived, name)) for name in names)
            and all(
                close(a, b)
                for stated, due in zip(self.columns, derived.columns, strict=True)
                for a, b in zip(stated[1:], due[1:], strict=True)
            )
        )


def close(stated: Fraction, derived: Fraction) -> bool:
    """Whether a stated sum of doubles is the derived cost, but for roundings up."""
    if 0 <= derived == stated:
        return True  # as most are: quickly seen
    return derived * HARDLY_LESS <= stated <= derived * HARDLY_MORE + TINY


@dataclass(frozen=True)
class Spent:
    """A spend with its exact costs: pure, or (`rho`) of Gaussian noise; `slack` is of the grid.

    `delta` is the mechanism's own.
    """

    spend: Spend
    pure: Fraction
    rho: Fraction
    slack: Fraction
    delta: Fraction = Fraction(0)

    @property
    def as_zcdp(self) -> Spent:
        """A pure cost as zCDP: `eps` is at most `eps^2 / 2` (theory 2.5).

        Not one with a delta of its own, which has no zCDP cost (theory 2.6b).
        """
        if self.rho > 0 or self.delta > 0:
            return self
        return Spent(self.spend, Fraction(0), self.pure**2 / 2, self.slack**2 / 2)


def spent(spends: Iterable[Spend]) -> list[Spent]:
    """The spends with their exact costs."""
    return [
        Spent(
            spend,
            Fraction(spend.dp_epsilon),
            Fraction(spend.rho),
            Fraction(spend.slack),
            Fraction(spend.dp_delta),
        )
        for spend in spends
    ]


def as_zcdp(spends: Iterable[Spent]) -> list[Spent]:
    """The spends with every pure one as zCDP."""
    return [priced.as_zcdp for priced in spends]


def _heaviest_cost(spends: Sequence[Spent], amount: Callable[[Spent], Fraction]) -> Fraction:
    """The most that one record pays, and of data sets that share people, one person in all.

    A person may be in the dearest block of each data set, so those add up (theory 2.10).
    """
    paid: dict[str, list[tuple[Block | None, Fraction]]] = {}
    if not any(map(amount, spends)):
        return Fraction(0)
    for priced in _once(spends):
        own = paid.setdefault(priced.spend.dataset, [])
        own.append((priced.spend.block, amount(priced)))
    return added([heaviest(own) for own in paid.values()])


def _once(spends: Sequence[Spent]) -> list[Spent]:
    """The spends, of which those on the same perturbed answers count once.

    Answers are drawn when they are collected, and everything that is made of them later is
    post-processing (theory 2.9). Answers at another cost are other answers, and so are those of
    another data set.
    """
    kept, known = list[Spent](), set[tuple[str, str | None, Fraction, Fraction]]()
    for priced in spends:
        if priced.spend.mechanism == COLLECTED:
            answers = (priced.spend.dataset, priced.spend.column, priced.pure, priced.rho)
            if answers in known:
                continue
            known.add(answers)
        kept.append(priced)
    return kept


def _parts(spends: Sequence[Spent]) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """Pure cost and slack, zCDP cost and its slack: the most that one record pays of each."""
    none = Fraction(0)
    return (
        _heaviest_cost(spends, lambda priced: priced.pure),
        _heaviest_cost(spends, lambda priced: none if priced.rho > 0 else priced.slack),
        _heaviest_cost(spends, lambda priced: priced.rho),
        _heaviest_cost(spends, lambda priced: priced.slack if priced.rho > 0 else none),
    )


def summed(spends: Sequence[Spent]) -> tuple[Fraction, Fraction]:
    """The most that one record pays in pure DP, and in zCDP."""
    return _heaviest_cost(spends, lambda priced: priced.pure), _heaviest_cost(
        spends, lambda priced: priced.rho
    )


def own_delta(spends: Sequence[Spent]) -> Fraction:
    """The most that one record pays of the mechanisms' own deltas (theory 2.6b)."""
    return _heaviest_cost(spends, lambda priced: priced.delta)


def check_own_delta(stated: float, spends: Sequence[Spent], where: str) -> None:
    """The stated delta is the sum of the mechanisms' own, hardly rounded up; 0 if they have none.

    What states it is named by `where`.
    """
    due, claimed = own_delta(spends), Fraction(stated)
    sums = due <= claimed <= due * HARDLY_MORE
    require(sums, f"own deltas: {stated!r} is not the sum of those of the spends", where)


def compose(
    spends: Sequence[Spent],
    population: Population | None,
    covers: Sequence[str],
    interval: tuple[Fraction, Fraction] | None = None,
) -> tuple[Cost, SecretsInterval]:
    """What one record pays by kind at most, and where the Lipschitz part needs secrets to be.

    `interval` is where secrets lie. A Lipschitz spend counts as such only under a Gaussian
    population that covers its column, and only if its clipping interval contains that one, so that
    no two secrets are further apart than it is wide (theory 2.2); else it is one of kind `any`.
    """
    if isinstance(population, GaussianVectors):
        return _by_column(spends, population, covers)
    moved, still = list[Spent](), list[Spent]()
    scalar = is_gaussian(population) and len(covers) == 1
    for priced in spends:
        spend = priced.spend
        moves = scalar and spend.kind == "lipschitz" and spend.column == covers[0]
        (moved if moves and _contains(spend.interval, interval) else still).append(priced)
    others, _, rest, _ = _parts(still)
    lipschitz, slack, rho_lipschitz, rho_slack = _parts(moved)
    where = [float(end) for end in interval] if moved and interval is not None else None
    return Cost(others, lipschitz, slack, (), rest, rho_lipschitz, rho_slack), where


def is_sum_of(stated: Cost, spent: Cost, spends: Sequence[Spent]) -> bool:
    """Whether the stated cost is what was spent, where no theorem depends on the kinds.

    It may be stated as all of kind `any`, without slack, or by the kinds of the spends.
    """
    sums = close(stated.total, spent.total) and close(stated.rho, spent.rho)
    return sums and (stated.is_close(spent) or stated.is_close(_by_kind(spends)))


def _by_kind(spends: Sequence[Spent]) -> Cost:
    others, _, rest, _ = _parts([priced for priced in spends if priced.spend.kind == "any"])
    lipschitz, slack, rho, rho_slack = _parts(
        [priced for priced in spends if priced.spend.kind == "lipschitz"]
    )
    return Cost(others, lipschitz, slack, (), rest, rho, rho_slack)


def is_gaussian(population: Population | None) -> bool:
    """Whether theorems about it look at kinds of mechanisms. `None` stands for no population."""
    return population is not None and population.model in ("gaussian", "autoregressive")


def _contains(
    clipped: tuple[float, float] | None, secrets: tuple[Fraction, Fraction] | None
) -> bool:
    """Whether a clipping interval contains the one in which secrets lie."""
    if secrets is None or clipped is None:
        return False
    return exact(clipped[0]) <= secrets[0] < secrets[1] <= exact(clipped[1])


def _by_column(
    spends: Sequence[Spent], population: GaussianVectors, covers: Sequence[str]
) -> tuple[Cost, SecretsInterval]:
    groups: dict[tuple[str, float, float], list[Spent]] = {}
    others: list[Spent] = []
    for priced in spends:
        spend = priced.spend
        column, interval = spend.column, spend.interval
        known = column in population.columns and column in covers
        if spend.kind == "lipschitz" and known and column is not None and interval is not None:
            groups.setdefault((column, *interval), []).append(priced)
        else:
            others.append(priced)
    columns = []
    for (column, low, high), group in sorted(groups.items()):
        columns.append(Column(column, exact(high) - exact(low), *_parts(group)))
    other, _, rho, _ = _parts(others)
    bounds = dict(zip(population.columns, map(list, population.bounds), strict=True))
    cost = Cost(any=other, columns=tuple(columns), rho_any=rho)
    return cost, bounds if columns else None


def declared_cost(stated: conversions.Cost) -> Cost:
    """The cost as a step states it: what a conversion alone is about."""
    columns = tuple(
        Column(
            cost.column,
            *map(Fraction, (cost.width, cost.dp_epsilon, cost.slack, cost.rho, cost.rho_slack)),
        )
        for cost in stated.by_column
    )
    any_, lipschitz, slack = map(Fraction, (stated.any, stated.lipschitz, stated.slack))
    rhos = map(Fraction, (stated.rho_any, stated.rho_lipschitz, stated.rho_slack))
    return Cost(any_, lipschitz, slack, columns, *rhos)
