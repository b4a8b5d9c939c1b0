"""Acceptance: over random compositions of every kind the level is never below the exact leakage."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from bayesdp.accounting.costs.composition import level
from bayesdp.accounting.costs.readings import Reading
from bayesdp.accounting.costs.spend import Spend
from bayesdp.accounting.expressions.expression import (
    CompositionNode,
    CompositionRefusal,
    Mechanism,
    Parallel,
    PostProcessing,
    Public,
    Sequential,
)
from bayesdp.accounting.expressions.levels import composed_level
from bayesdp.accounting.expressions.prices import price
from bayesdp.leakage.tensor import tensor_leakage
from tests.accounting.random_compositions import COLUMN, Grower, exact_leakage, random_world
from tests.effort import runs
from tests.oracles import finite

CHUNKS = 8


def kinds(node: CompositionNode) -> Counter[str]:
    """What a composition is made of."""
    if isinstance(node, Mechanism):
        return Counter({"level alone" if node.dp_epsilon is None else "mechanism": 1})
    if isinstance(node, PostProcessing):
        return kinds(node.inner) + Counter({"post": 1})
    name = type(node.blocks).__name__ if isinstance(node, Parallel) else "Sequential"
    return sum((kinds(part) for part in node.parts), Counter({name: 1}))


def spends_of(node: CompositionNode) -> list[Spend]:
    """What a ledger is told: one spend for each step, on its public block if it has one."""
    if isinstance(node, Sequential):
        return [spend for part in node.parts for spend in spends_of(part)]
    if isinstance(node, Parallel) and isinstance(node.blocks, Public):
        return [
            spend(part, {"column": COLUMN, "values": list(values)})
            for part, values in zip(node.parts, node.blocks.values, strict=True)
        ]
    return [spend(node, None)]


def spend(node: CompositionNode, block: dict | None) -> Spend:
    cost = price(node).dp_epsilon
    return Spend("d", "row", "q", "any", cost, reads=("x",), block=block)


@pytest.mark.prove
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_no_level_is_below_the_exact_leakage(chunk: int) -> None:
    rng = np.random.default_rng(400 + chunk)
    seen: Counter[str] = Counter()
    nearest: dict[str, float] = {}
    for _ in range(runs(10_000, least=1000) // CHUNKS):
        world = random_world(rng)
        adversary = str(rng.choice(["any", "any", "uninformed", "informed"]))
        grower = Grower(rng, world, adversary)
        grow = grower._independent if rng.random() < 0.15 else grower.grow
        node, process = grow(grower.start, grower.everywhere, 3)
        truth = exact_leakage(world.joint, process, adversary)
        seen.update(kinds(node))
        try:
            actual = composed_level(node, world.population, adversary=adversary).bdp_epsilon
        except CompositionRefusal:
            seen["refused"] += 1
            continue
        assert truth <= actual + 1e-9, node
        if adversary != "informed" and actual > 0.0:  # 0 where no record has two possible values
            name = type(world.population).__name__
            nearest[name] = max(nearest.get(name, 0.0), truth / actual)
        if kinds(node)["level alone"]:
            continue
        spec = world.population.spec()
        reading = Reading("bdp", 1e6, spec, adversary=adversary, covers=("x",))
        ledger = level(reading, spends_of(node))
        assert truth <= ledger + 1e-9, node
        # The ledger knows public blocks only, so it may be above the expression, never below.
        assert actual <= ledger * (1 + 1e-9)
    assert {"Sequential", "Indexed", "Public", "Private", "post", "level alone"} <= set(seen)
    assert seen["refused"] < 0.1 * runs(10_000, least=1000) // CHUNKS
    assert max(nearest.values()) > 0.99, nearest  # a level that is far too high proves nothing
    assert min(nearest.values()) > 0.4, nearest


@pytest.mark.parametrize("adversary", ["any", "uninformed", "informed"])
def test_the_exact_leakage_is_that_of_the_definition(adversary: str) -> None:
    rng = np.random.default_rng(5)
    for _ in range(runs(200)):
        world = random_world(rng)
        process = rng.dirichlet(np.full(3, 0.6), size=world.joint.size) + 1e-12
        process /= process.sum(axis=1, keepdims=True)
        channel = process.reshape(*world.joint.shape, 3)
        ours = exact_leakage(world.joint, process, adversary)
        brute, _, _ = finite.leakage(world.joint, channel, adversary)
        assert ours == pytest.approx(brute, abs=1e-9)
        tensor = tensor_leakage(world.joint, channel).levels[adversary].bdp
        assert ours == pytest.approx(tensor, abs=1e-9)
