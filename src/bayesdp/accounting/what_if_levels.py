"""What is proved of a composition, at a delta or without one, and the DP cost behind it."""

from __future__ import annotations

from ..errors import InputError, Refusal
from ..theorems import Question
from .blocks import Block
from .composition import converted
from .expressions import (
    Mechanism,
    Node,
    Parallel,
    PostProcessing,
    Price,
    Public,
    price,
)
from .levels import composed_level
from .spend import Reading, Spend


def proved(node: Node, question: Question, delta: float) -> tuple[float, str, Price | None]:
    """The proved level, why, and the DP cost where there is one."""
    try:
        priced = price(node)
    except Refusal:
        return *_without_delta(node, question), None
    if delta > 0.0:
        return *_at_delta(node, priced, question, delta), priced
    if priced.rho > 0.0:
        raise InputError(
            "releases",
            "a zCDP cost",
            expected="pure costs for a level without delta",
            remedy="Add --delta, such as --delta 1e-6.",
        )
    return *_without_delta(node, question), priced


def _without_delta(node: Node, question: Question) -> tuple[float, str]:
    composed = composed_level(
        node,
        question.population,
        adversary=question.adversary,
        seconds=question.seconds,
        deadline=question.deadline,
    )
    return composed.bdp_epsilon, composed.reason


def _at_delta(node: Node, priced: Price, question: Question, delta: float) -> tuple[float, str]:
    """The level that a ledger's reading gives to the releases, each of them a spend."""
    spends = _spends(node)
    if spends is None:
        spends = _spend(priced.dp_epsilon, 0.0) + _spend(0.0, priced.rho)
    if not spends:
        return 0.0, "nothing is spent"
    spec = {k: v for k, v in question.population.spec().items() if k not in ("source", "covers")}
    reading = Reading("bdp", 1e9, spec, adversary=question.adversary, delta=delta)
    best = converted(reading, spends, fixed=True, search=question.deadline).best
    return best.epsilon, f"composed at the DP level, converted once by {best.theorem}"


def _spends(node: Node, block: Block | None = None) -> list[Spend] | None:
    """The releases as a ledger keeps them.

    `None` where it can't: it knows no blocks of record numbers or private values, nor blocks inside
    blocks. There the whole cost counts, as one spend for each measure.
    """
    if isinstance(node, Mechanism):
        if node.records is not None:
            return None
        return _spend(node.dp_epsilon or 0.0, node.rho or 0.0, block)
    if isinstance(node, PostProcessing):
        return _spends(node.inner, block)
    blocks = [block] * len(node.parts)
    if isinstance(node, Parallel):
        if block is not None or not isinstance(node.blocks, Public):
            return None
        blocks = [Block(node.blocks.column, values) for values in node.blocks.values]
    spends: list[Spend] = []
    for part, inner in zip(node.parts, blocks, strict=True):
        kept = _spends(part, inner)
        if kept is None:
            return None
        spends += kept
    return spends


def _spend(dp_epsilon: float, rho: float, block: Block | None = None) -> list[Spend]:
    """One spend, or none where nothing is spent."""
    if dp_epsilon == rho == 0.0:
        return []
    return [Spend("what if", "row", "all", "any", dp_epsilon, rho=rho, block=block)]
