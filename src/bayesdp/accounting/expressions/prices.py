"""The DP cost of a composition, with the reason for every step in words (theory 2.3).

### 2.3 Parallel composition (corrected)

Zhao (2017, Theorem 2) lets mechanisms on disjoint blocks of records cost the *maximum* of their BDP
levels. *Counterexample:* `X1 = X2` a fair bit, randomized response on each: each is eps-BDP, the
pair is `2 eps`-BDP. Three rules are sound:

**(a) Blocks fixed by public things**, that is by record index or by a column declared public, `pi`
being conditional on it: the DP cost is `max eps_j`; convert it once with `L_pi`. *Proof:* replacing
one record changes one block (2.7 for several rounds and columns). ∎ Conditional matters: for fair
bits B1, B2 and a public `B1 xor B2` the population is `B2 = B1` or `B2 = 1 - B1`, and eps on each
bit costs `2 eps`.

**(b) Blocks that are mutually independent under `pi`**: the maximum of the levels, if each holds
whatever the earlier answers to the other blocks were; several rounds inside one block count as one
mechanism. *Proof:* the probability of all answers is a product with one factor for each block, and
its expectation given `x_i, x_K` factorises by independence; only the factor of the block of `i`
depends on `x_i`. ∎

**(c) Blocks given by a private value**, such as a histogram or a sum for each value of a private
column. Replacing one record can change it inside its block, or take it out of one block and put it
into another. Let `r_j` be the replace-one cost inside block `j` and `a_j` its cost of adding or
removing a record (a count: 1; a sum clipped to `[a, b]`: `max(|a|, |b|)`, *not* `b - a`). The DP
cost is `max(max_j r_j, the sum of the two largest a_j)`. *Proof:* these are the two cases. ∎ Block
sizes are private then, so a mean for each block is refused, or released as two queries. Mistakes to
avoid: a sum clipped to [100, 110] and calibrated with `b - a` at eps 1 loses 11 when a record
leaves its block; two sums clipped to [-1, 1] with add-or-remove costs 1 and 0.1 still cost 2
when -1 becomes 1 inside the first block.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from bayesdp.accounting.costs.rounded import up_words
from bayesdp.accounting.expressions.expression import (
    ADDING_LEVELS,
    BLOCKS_LEAK_SIZES,
    CompositionNode,
    CompositionRefusal,
    Indexed,
    Mechanism,
    Parallel,
    PostProcessing,
    Private,
    Public,
    Sequential,
    cells_of_blocks,
    named_alike,
)
from bayesdp.errors import InputError
from bayesdp.notions import Cost
from bayesdp.numbers import UpperBound, float_above


@dataclass(frozen=True, slots=True)
class Amount:
    """An exact DP cost: pure costs in nats and zCDP costs (`rho`), by the mechanism's kind."""

    any: Fraction = Fraction(0)
    lipschitz: Fraction = Fraction(0)
    rho_any: Fraction = Fraction(0)
    rho_lipschitz: Fraction = Fraction(0)

    def __add__(self, other: Amount) -> Amount:
        return Amount(*(a + b for a, b in zip(self.parts, other.parts, strict=True)))

    @property
    def parts(self) -> tuple[Fraction, Fraction, Fraction, Fraction]:
        """The pure costs of both kinds, then the zCDP costs."""
        return (self.any, self.lipschitz, self.rho_any, self.rho_lipschitz)

    @property
    def pure(self) -> Fraction:
        """The pure DP cost of both kinds together."""
        return self.any + self.lipschitz

    @property
    def rho(self) -> Fraction:
        """The zCDP cost of both kinds together."""
        return self.rho_any + self.rho_lipschitz


def _largest(amounts: Iterable[Amount]) -> Amount:
    """The largest of these amounts, part by part."""
    columns = zip(*(amount.parts for amount in amounts), strict=True)
    return Amount(*(max(column) for column in columns))


Axis = str
_RECORDS: Axis = "the records' numbers"


@dataclass(frozen=True, slots=True)
class CostSpread:
    """What each record pays: `base` for all of them, and on each axis the amount of its cell.

    A record is in one cell of each axis. `add_remove` is what a record that is added or removed
    pays; `None` where it is not stated.
    """

    base: Amount = Amount()
    cells: Mapping[Axis, Mapping[Hashable, Amount]] = field(default_factory=dict)
    add_remove: Amount | None = None

    @property
    def most(self) -> Amount:
        """The most that a record pays, part by part."""
        return self._without(None)

    @property
    def pure(self) -> Fraction:
        """The most that a record pays in pure DP, all kinds together."""
        tops = (max(amount.pure for amount in cells.values()) for cells in self.cells.values())
        return self.base.pure + sum(tops, Fraction(0))

    @property
    def rho(self) -> Fraction:
        """The most that a record pays in zCDP, all kinds together."""
        tops = (max(amount.rho for amount in cells.values()) for cells in self.cells.values())
        return self.base.rho + sum(tops, Fraction(0))

    def at(self, axis: Axis, cell: Hashable) -> Amount:
        """The most that a record of this cell pays, part by part."""
        here = self.cells.get(axis, {}).get(cell, Amount())
        return self._without(axis) + here

    def _without(self, left_out: Axis | None) -> Amount:
        total = self.base
        for axis, cells in self.cells.items():
            if axis != left_out:
                total = total + _largest(cells.values())
        return total


@dataclass(frozen=True, slots=True)
class PriceStep:
    """One step of a price, in words: its name, its cost rounded up, and the reason."""

    name: str
    dp_epsilon: UpperBound
    rho: UpperBound
    reason: str
    parts: tuple[PriceStep, ...] = ()

    def lines(self, depth: int = 0) -> list[str]:
        """The whole derivation, one line for each step, indented by depth."""
        cost = f"eps {up_words(self.dp_epsilon)}" if self.dp_epsilon or not self.rho else ""
        cost += (" and " if cost else "") + f"rho {up_words(self.rho)}" if self.rho else ""
        here = f"{'  ' * depth}{self.name}: {cost} ({self.reason})"
        return [here, *(line for part in self.parts for line in part.lines(depth + 1))]

    def to_dict(self) -> dict[str, Any]:
        """The derivation as plain data for JSON."""
        return {
            "what": self.name,
            "dp_epsilon": self.dp_epsilon,
            "rho": self.rho,
            "reason": self.reason,
            "parts": [part.to_dict() for part in self.parts],
        }


@dataclass(frozen=True, slots=True)
class Price:
    """The DP cost of a composition: `cost` by kind, rounded up, and every step's reason.

    `dp_epsilon` is exact where kinds are mixed; `cost` bounds each kind on its own.
    """

    cost: Cost
    dp_epsilon: UpperBound
    rho: UpperBound
    step: PriceStep
    spread: CostSpread


def price(node: CompositionNode) -> Price:
    """The DP cost of a composition.

    Raises `CompositionRefusal` where no theorem gives a cost, and `InputError` for a part that
    reads records outside its block, or blocks of which some are numbers and others texts.
    Source: theory 2.2 (sequential), 2.3 a and c (parallel), 2.4 (post-processing).

    >>> whole = Sequential(Mechanism("a", 0.5), Parallel(Indexed({0}, {1}),
    ...                    Mechanism("b", 0.25), Mechanism("c", 1.0)))
    >>> price(whole).dp_epsilon
    1.5
    """
    spread, step = _priced(node)
    most = spread.most
    any_, lipschitz, rho_any, rho_lipschitz = (float_above(part) for part in most.parts)
    cost = Cost(any=any_, lipschitz=lipschitz, rho_any=rho_any, rho_lipschitz=rho_lipschitz)
    return Price(cost, float_above(spread.pure), float_above(spread.rho), step, spread)


def _priced(node: CompositionNode) -> tuple[CostSpread, PriceStep]:
    if isinstance(node, Mechanism):
        spread = _leaf(node)
        count = None if node.records is None else len(node.records)
        reads = (
            "all records" if count is None else "one record" if count == 1 else f"{count} records"
        )
        return spread, _step(f"'{node.name}'", spread, f"its own cost, on {reads}")
    if isinstance(node, PostProcessing):
        spread, inner = _priced(node.inner)
        return spread, _step("post-processing", spread, f"{node.words}: free", (inner,))
    priced = [_priced(part) for part in node.parts]
    spreads, steps = [spread for spread, _ in priced], tuple(step for _, step in priced)
    if isinstance(node, Sequential):
        spread = _one_after_the_other(spreads)
        reason = (
            "costs add up at the DP level, for each record those of the mechanisms that read it"
        )
        return spread, _step("sequential", spread, reason, steps)
    if isinstance(node.blocks, Private):
        spread = _private(node.blocks, spreads, steps)
        reason = (
            f"blocks of the private column '{node.blocks.column}': a record changes inside its "
            "block, or leaves one and enters another, which costs the two largest add-or-remove "
            "costs"
        )
        return spread, _step("parallel", spread, reason, steps)
    spread = _disjoint(node.blocks, node.parts, spreads)
    blocks = (
        "blocks of record numbers"
        if isinstance(node.blocks, Indexed)
        else f"blocks of the public column '{node.blocks.column}'"
    )
    reason = f"{blocks}: replacing one record changes one block, so the largest counts"
    return spread, _step("parallel", spread, reason, steps)


def _step(
    name: str, spread: CostSpread, reason: str, parts: tuple[PriceStep, ...] = ()
) -> PriceStep:
    return PriceStep(name, float_above(spread.pure), float_above(spread.rho), reason, parts)


def _leaf(node: Mechanism) -> CostSpread:
    if node.dp_epsilon is None and node.rho is None:
        raise CompositionRefusal(
            f"'{node.name}' has a Bayesian level and no DP cost: levels don't compose.",
            ADDING_LEVELS,
            "State its DP cost.",
        )
    amount = _amount(node, node.rho if node.dp_epsilon is None else node.dp_epsilon)
    added = None if node.add_remove is None else _amount(node, node.add_remove)
    if node.records is None:
        return CostSpread(base=amount, add_remove=added)
    return CostSpread(cells={_RECORDS: dict.fromkeys(node.records, amount)} if node.records else {})


def _amount(node: Mechanism, value: float | None) -> Amount:
    exact = Fraction(value or 0.0)
    if node.dp_epsilon is None:
        return Amount(rho_any=exact) if node.kind == "any" else Amount(rho_lipschitz=exact)
    return Amount(any=exact) if node.kind == "any" else Amount(lipschitz=exact)


def _one_after_the_other(spreads: Sequence[CostSpread]) -> CostSpread:
    base, added = Amount(), Amount()
    cells: dict[Axis, dict[Hashable, Amount]] = {}
    known = True
    for spread in spreads:
        base = base + spread.base
        known = known and spread.add_remove is not None
        added = added + (spread.add_remove or Amount())
        for axis, amounts in spread.cells.items():
            there = cells.setdefault(axis, {})
            for cell, amount in amounts.items():
                there[cell] = there.get(cell, Amount()) + amount
    for axis, there in cells.items():
        _check_kinds(axis, there)
    return CostSpread(base, cells, added if known else None)


def _check_kinds(axis: Axis, cells: Iterable[Any]) -> None:
    """Cells of one axis that are not of one kind may be the same, and are not blocks."""
    if axis == _RECORDS:
        named_alike(cells)
    elif len({kind for kind, _ in cells}) > 1:
        raise InputError(
            "sequential", axis, expected="values of one kind: all texts, or all numbers"
        )


def _disjoint(
    blocks: Indexed | Public, parts: Sequence[CompositionNode], spreads: Sequence[CostSpread]
) -> CostSpread:
    axis = _axis(blocks)
    cells: dict[Hashable, Amount] = {}
    for block, part, spread in zip(cells_of_blocks(blocks), parts, spreads, strict=True):
        outside = _named(part, axis) - block
        if outside:
            raise InputError(
                "parallel",
                sorted(map(repr, outside)),
                expected="a part that reads its own block, and no record outside it",
            )
        cells.update({cell: spread.at(axis, cell) for cell in block})
    return CostSpread(cells={axis: cells} if cells else {})


def _axis(blocks: Indexed | Public) -> Axis:
    return _RECORDS if isinstance(blocks, Indexed) else f"column {blocks.column}"


def _named(node: CompositionNode, axis: Axis) -> frozenset[Any]:
    """The cells that a part names itself; a part that names no cells reads its whole block."""
    if isinstance(node, Mechanism):
        return (node.records if axis == _RECORDS else None) or frozenset()
    if isinstance(node, PostProcessing):
        return _named(node.inner, axis)
    cells: frozenset[Any] = frozenset()
    blocks = node.blocks if isinstance(node, Parallel) else None
    if isinstance(blocks, Indexed | Public) and _axis(blocks) == axis:
        cells = cells.union(*cells_of_blocks(blocks))
    return cells.union(*(_named(part, axis) for part in node.parts))


def _private(
    blocks: Private, spreads: Sequence[CostSpread], steps: Sequence[PriceStep]
) -> CostSpread:
    """The costs of parts on blocks by a private value.

    A record that stays in its block costs at most the largest part. A record that moves to another
    block costs at most the two largest add-or-remove costs. No part is Lipschitz in such a move,
    because a value counts as 0 in the block that it has left.
    """
    added: list[Amount] = []
    for spread, step in zip(spreads, steps, strict=True):
        if spread.add_remove is None:
            raise CompositionRefusal(
                f"{step.name} reads a block of the private column '{blocks.column}', and what it "
                "costs when a record enters or leaves is not said.",
                BLOCKS_LEAK_SIZES,
                "State add_remove: 1 for a count, max(|a|, |b|) for a sum clipped to [a, b], times "
                "the mechanism's epsilon for one unit.",
            )
        added.append(spread.add_remove)
    pure = max(max(cost.pure for cost in spreads), _two_largest([cost.pure for cost in added]))
    rho = max(max(cost.rho for cost in spreads), _two_largest([cost.rho for cost in added]))
    entering = Amount(any=max(cost.pure for cost in added), rho_any=max(cost.rho for cost in added))
    return CostSpread(base=Amount(any=pure, rho_any=rho), add_remove=entering)


def _two_largest(values: Sequence[Fraction]) -> Fraction:
    return sum(sorted(values, reverse=True)[:2], Fraction(0))
