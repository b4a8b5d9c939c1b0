"""Compositions as data: which mechanisms run on which records.

Leaves are mechanisms; `Sequential`, `Parallel` and `PostProcessing` put them together.
`prices.price` gives the DP cost with the reason for every step in words, `levels.composed_level`
what it means for a population. What no theorem justifies is refused, with the name of a
counterexample.

Pure DP costs hold however later mechanisms are chosen: a step stands for every mechanism of its
cost, on its records, that an analyst may choose after seeing all earlier answers.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Union

from bayesdp.accounting.costs.blocks import Block, usable_axes
from bayesdp.accounting.expressions.independence import RecordId
from bayesdp.errors import InputError, Refusal
from bayesdp.notions import KINDS, Kind

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
        example = COUNTEREXAMPLES[counterexample]
        super().__init__(f"{problem} Counterexample '{counterexample}': {example}. {remedy}")


def named_alike(records: Iterable[RecordId]) -> frozenset[RecordId]:
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
            object.__setattr__(self, "records", named_alike(self.records))


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
        object.__setattr__(self, "records", tuple(map(named_alike, records)))
        named_alike(frozenset[RecordId]().union(*self.records))


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
    """Whatever is computed from answers alone. Free (theory 2.4).

    ### 2.4 Post-processing

    Whatever is computed from a release without looking at the data again costs nothing, in DP and
    in BDP. *Proof:* `P[z | .]` is an average of `P[y | .]` over `y` with weights that don't depend
    on the database, and averages of ratios bounded by `e^epsilon` are bounded by it. ∎
    """

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
    cells: list[frozenset[Hashable]] = [frozenset(block) for block in cells_of_blocks(blocks)]
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
        single_blocks = [Block(blocks.column, block_values) for block_values in blocks.values]
        if not usable_axes(single_blocks):
            raise InputError(
                "parallel", blocks.column, expected="values of one kind: all texts, or all numbers"
            )


def cells_of_blocks(blocks: Indexed | Public) -> tuple[frozenset[Any], ...]:
    """Each block's cells: records, or values of the column."""
    if isinstance(blocks, Indexed):
        return blocks.records
    return tuple(Block(blocks.column, block_values).cells for block_values in blocks.values)
