"""Compositions as data: which mechanisms run on which records, and what they cost together.

Leaves are mechanisms; `Sequential`, `Parallel` and `PostProcessing` put them together. `price`
gives the DP cost with the reason for every step in words; `levels.composed_level` says what it
means for a population. What no theorem justifies is refused, with the counterexample's name.

Pure DP costs hold however later mechanisms are chosen: a step stands for every mechanism of its
cost, on its records, that an analyst may choose after seeing all earlier answers.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Union

from bayesdp.accounting.blocks import Block, usable_axes
from bayesdp.accounting.independence import RecordId
from bayesdp.accounting.rounded import up_words
from bayesdp.errors import InputError, Refusal
from bayesdp.notions import KINDS, Cost, Kind
from bayesdp.numbers import float_above

MOST_COST = 1e100
"""The largest cost of a mechanism, so that no sum of them is too large for a double."""

ADDING_LEVELS = "levels-do-not-add"
PARALLEL_MAX = "parallel-is-not-the-maximum"
BLOCKS_LEAK_SIZES = "clipped-width-for-a-private-block"

COUNTEREXAMPLES = {
    ADDING_LEVELS: (
        "one answer of level ln 22 = 3.0910, two independent ones ln 1573 = 7.3607, which is more "
        "than 6.1821 (theory 2.2)"
    ),
    PARALLEL_MAX: (
        "one fair bit in two records, randomized response on each: level eps each, 2 eps together "
        "(theory 2.3)"
    ),
    BLOCKS_LEAK_SIZES: (
        "a sum clipped to [100, 110] and calibrated with its width 10 at eps 1 loses 11 when a "
        "record leaves its block (theory 2.3 c)"
    ),
}
"""Counterexamples to the rules that are refused here, by name."""


class CompositionRefusal(Refusal):
    """No theorem justifies this composition; `counterexample` names a case in which it fails."""

    def __init__(self, problem: str, counterexample: str, remedy: str) -> None:
        self.counterexample = counterexample
        shown = COUNTEREXAMPLES[counterexample]
        super().__init__(f"{problem} Counterexample '{counterexample}': {shown}. {remedy}")


def _named_alike(records: Iterable[RecordId]) -> frozenset[RecordId]:
    """The records. Raises `InputError` for numbers beside pairs, which may be the same."""
    names = frozenset(records)
    if len({isinstance(name, tuple) for name in names}) > 1:
        raise InputError(
            "records",
            sorted(map(repr, names))[:4],
            expected="all by number, or all by cluster and number",
            remedy="Else two of them may be the same record.",
        )
    return names


@dataclass(frozen=True, slots=True)
class Mechanism:
    """A mechanism and its cost for replacing one record, in nats (`rho` in zCDP).

    It states `dp_epsilon`, `rho` or `bdp_epsilon`. `bdp_epsilon` is a level under the very
    population and adversary that the composition is read under; alone it composes with almost
    nothing. `any_history` says that it holds whatever earlier answers were. `records` are those
    that the mechanism reads, `None` for all. `add_remove` is the cost of adding or removing one
    record, in the same measure: blocks given by a private value need it (theory 2.3 c).
    Raises `InputError` for a cost out of range, for none at all, and for `dp_epsilon` with `rho`.
    """

    name: str
    dp_epsilon: float | None = None
    rho: float | None = None
    bdp_epsilon: float | None = None
    kind: Kind = "any"
    records: frozenset[RecordId] | None = None
    add_remove: float | None = None
    any_history: bool = False

    def __post_init__(self) -> None:
        place = f"mechanism '{self.name}'"
        for name in ("dp_epsilon", "rho", "bdp_epsilon", "add_remove"):
            value = getattr(self, name)
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if value is not None and not (number and 0.0 <= value <= MOST_COST):
                raise InputError(
                    f"{place}.{name}",
                    value,
                    expected=f"a number of at least 0, up to {MOST_COST:g}",
                )
        if self.kind not in KINDS:
            raise InputError(f"{place}.kind", self.kind, expected=f"one of {', '.join(KINDS)}")
        if self.dp_epsilon is None and self.rho is None and self.bdp_epsilon is None:
            raise InputError(place, expected="dp_epsilon, rho or bdp_epsilon", shown=False)
        if self.dp_epsilon is not None and self.rho is not None:
            raise InputError(f"{place}.rho", self.rho, expected="nothing, or no dp_epsilon")
        if self.records is not None:
            object.__setattr__(self, "records", _named_alike(self.records))


@dataclass(frozen=True, slots=True)
class Sequential:
    """One after the other, each chosen with all earlier answers in view.

    Raises `InputError` without a part, and for a part that is not a mechanism or a composition.
    """

    parts: tuple[CompositionNode, ...]

    def __init__(self, *parts: CompositionNode) -> None:
        object.__setattr__(self, "parts", _several("sequential", parts))


@dataclass(frozen=True, slots=True)
class Indexed:
    """Blocks of records by their numbers, or by the cluster or series that they lie in.

    Raises `InputError` where some are numbers and others pairs, which may be the same record.
    """

    records: tuple[frozenset[RecordId], ...]

    def __init__(self, *records: Iterable[RecordId]) -> None:
        object.__setattr__(self, "records", tuple(map(_named_alike, records)))
        _named_alike(frozenset[RecordId]().union(*self.records))


@dataclass(frozen=True, slots=True)
class Public:
    """Blocks by the values of one public column: a block is a list of values."""

    column: str
    values: tuple[tuple[Any, ...], ...]

    def __init__(self, column: str, *values: Iterable[Any]) -> None:
        object.__setattr__(self, "column", column)
        object.__setattr__(self, "values", tuple(tuple(block) for block in values))


@dataclass(frozen=True, slots=True)
class Private:
    """Blocks by a private value: a record may leave a block and enter another (theory 2.3 c)."""

    column: str


@dataclass(frozen=True, slots=True)
class Parallel:
    """Each part reads its own block of records; the blocks don't overlap.

    Raises `InputError` for blocks that do, for another number of parts than of blocks, and for a
    part that is not a mechanism or a composition.
    """

    blocks: Indexed | Public | Private
    parts: tuple[CompositionNode, ...]

    def __init__(self, blocks: Indexed | Public | Private, *parts: CompositionNode) -> None:
        object.__setattr__(self, "blocks", blocks)
        object.__setattr__(self, "parts", _several("parallel", parts))
        _check_blocks(blocks, len(parts))


@dataclass(frozen=True, slots=True)
class PostProcessing:
    """Whatever is computed from answers alone. Free (theory 2.4)."""

    inner: CompositionNode
    words: str = "computed from the answers alone"


CompositionNode = Union[Mechanism, Sequential, Parallel, PostProcessing]  # noqa: UP007  # refers to itself


def _several(name: str, parts: Sequence[Any]) -> tuple[Any, ...]:
    if not parts:
        raise InputError(name, list(parts), expected="at least one part")
    for part in parts:
        if not isinstance(part, Mechanism | Sequential | Parallel | PostProcessing):
            raise InputError(name, part, expected="mechanisms and compositions of them")
    return tuple(parts)


def _check_blocks(blocks: Indexed | Public | Private, parts: int) -> None:
    if isinstance(blocks, Private):
        return
    cells: list[frozenset[Hashable]] = [frozenset(block) for block in _cells(blocks)]
    if len(cells) != parts:
        raise InputError("parallel", f"{len(cells)} blocks", expected=f"{parts}, one for each part")
    if sum(map(len, cells)) != len(frozenset[Hashable]().union(*cells)):
        raise InputError(
            "parallel",
            "blocks that overlap",
            expected="disjoint blocks: what reads a record twice costs twice",
            remedy="Put the parts one after the other instead.",
        )
    if isinstance(blocks, Public):
        made = [Block(blocks.column, block_values) for block_values in blocks.values]
        if not usable_axes(made):
            raise InputError(
                "parallel", blocks.column, expected="values of one kind: all texts, or all numbers"
            )


def _cells(blocks: Indexed | Public) -> tuple[frozenset[Any], ...]:
    if isinstance(blocks, Indexed):
        return blocks.records
    return tuple(Block(blocks.column, block_values).cells for block_values in blocks.values)


# -- the DP cost ----------------------------------------------------------------------------


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
    dp_epsilon: float
    rho: float
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
    dp_epsilon: float
    rho: float
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
        _named_alike(cells)
    elif len({kind for kind, _ in cells}) > 1:
        raise InputError(
            "sequential", axis, expected="values of one kind: all texts, or all numbers"
        )


def _disjoint(
    blocks: Indexed | Public, parts: Sequence[CompositionNode], spreads: Sequence[CostSpread]
) -> CostSpread:
    axis = _axis(blocks)
    cells: dict[Hashable, Amount] = {}
    for block, part, spread in zip(_cells(blocks), parts, spreads, strict=True):
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
        cells = cells.union(*_cells(blocks))
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
