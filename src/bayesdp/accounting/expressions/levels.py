"""What a composition means for a population (theory 2.2 and 2.3).

Where every mechanism has a DP cost, the whole has one, and it is converted once. Mechanisms that
have only a Bayesian level compose where a theorem says so: on blocks that the population declares
to be independent the largest counts; levels add up for informed adversaries, and for independent
records. Everything else is refused, with the counterexample's name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bayesdp.accounting.expressions.expression import (
    ADDING_LEVELS,
    BLOCKS_LEAK_SIZES,
    PARALLEL_MAX,
    CompositionNode,
    CompositionRefusal,
    Indexed,
    Mechanism,
    Parallel,
    PostProcessing,
    Private,
    Sequential,
)
from bayesdp.accounting.expressions.independence import dependence
from bayesdp.accounting.expressions.prices import Price, price
from bayesdp.calibration import MOST_LEVELS
from bayesdp.errors import InputError
from bayesdp.leakage.deadline import Deadline
from bayesdp.notions import ADVERSARIES, Adversary, Cost, Secrets
from bayesdp.numbers import UpperBound, sum_above
from bayesdp.populations import Autoregressive, Gaussian, Independent, Population
from bayesdp.theorems import Question, best_bound, check_seconds


@dataclass(frozen=True, slots=True)
class Composed:
    """The Bayesian level of a composition in nats, rounded up, and why it holds.

    `price` is the DP cost that was converted, `None` where the level comes from other levels.
    """

    bdp_epsilon: UpperBound
    reason: str
    price: Price | None
    parts: tuple[Composed, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The level as plain data for JSON."""
        return {
            "bdp_epsilon": self.bdp_epsilon,
            "reason": self.reason,
            "dp": None if self.price is None else self.price.step.to_dict(),
            "parts": [part.to_dict() for part in self.parts],
        }


def composed_level(
    node: CompositionNode,
    population: Population,
    *,
    adversary: Adversary = "any",
    secrets: Secrets = "bounded",
    seconds: float = 1.0,
    deadline: Deadline | None = None,
) -> Composed:
    """The level of a composition of pure mechanisms, in nats, rounded up.

    Costs of kind `lipschitz` must all be for one column, clipped to one interval; under a Gaussian
    population their level holds for secrets inside it (`secrets="bounded"`).

    A theorem may take `seconds` for the level of one part. All levels together may take
    `MOST_LEVELS` (60) times that, or end at `deadline` if one is given; from then on only theorems
    that need no time are asked.

    Levels that mechanisms state (`bdp_epsilon`) must be under this population and adversary.
    Raises `CompositionRefusal` where no theorem justifies a level, and `InputError` naming the
    argument, and for mechanisms with a zCDP cost, which have no pure level.
    """
    if adversary not in ADVERSARIES:
        raise InputError("adversary", adversary, expected="one of " + ", ".join(ADVERSARIES))
    within = Deadline(MOST_LEVELS * check_seconds(seconds)) if deadline is None else deadline
    return _level(node, Question(population, adversary, secrets, seconds, within))


def _private(node: Sequential | Parallel) -> bool:
    """Whether blocks are by a private value: then even a single part costs more than it says."""
    return isinstance(node, Parallel) and isinstance(node.blocks, Private)


def _level(node: CompositionNode, question: Question, *, alone: bool = True) -> Composed:
    """The smallest level that some rule justifies; the last refusal where none does.

    `alone` says that no other mechanism runs beside this node: a stated level then need not hold
    for every earlier answer.
    """
    if isinstance(node, PostProcessing):
        inner = _level(node.inner, question, alone=alone)
        return Composed(inner.bdp_epsilon, f"{node.words}: free", inner.price, (inner,))
    levels = [_converted(node, question)] if _has_cost(node) else []
    try:
        if isinstance(node, Mechanism):
            levels += _stated(node, alone)
        elif len(node.parts) == 1 and not _private(node):
            levels.append(_level(node.parts[0], question, alone=alone))
        elif isinstance(node, Sequential):
            levels.append(_added(node, question))
        else:
            levels.append(_largest(node, question))
    except CompositionRefusal:
        if not levels:
            raise
    return min(levels, key=lambda level: level.bdp_epsilon)


def _stated(node: Mechanism, alone: bool) -> list[Composed]:
    """The level that a mechanism states itself, if it may be used here."""
    if node.bdp_epsilon is None:
        return []
    if alone or node.any_history:
        return [Composed(UpperBound(node.bdp_epsilon), f"'{node.name}': its own level", None)]
    if node.dp_epsilon is not None or node.rho is not None:
        return []
    raise InputError(
        f"mechanism '{node.name}'.any_history",
        node.any_history,
        expected="true: beside other mechanisms a level must hold for every earlier answer",
        remedy="A mechanism that is fixed in advance has such a level.",
    )


def _has_cost(node: CompositionNode) -> bool:
    if isinstance(node, Mechanism):
        return node.dp_epsilon is not None or node.rho is not None
    if isinstance(node, PostProcessing):
        return _has_cost(node.inner)
    return all(_has_cost(part) for part in node.parts)


def _converted(node: CompositionNode, question: Question) -> Composed:
    """Composed at the DP level, converted once."""
    priced = price(node)
    if priced.rho > 0.0:
        raise InputError(
            "composition",
            "a zCDP cost",
            expected="pure costs for a level without delta",
            remedy="Give a delta: a ledger's reading has one, and `bayesdp compose --delta`.",
        )
    gaussian = isinstance(question.population, Gaussian | Autoregressive)
    cost = priced.cost if gaussian else Cost(any=priced.dp_epsilon)
    best = best_bound(question, cost)
    reason = f"composed at the DP level, converted once by {best.theorem}"
    return Composed(best.epsilon, reason, priced)


def _added(node: Sequential, question: Question) -> Composed:
    """The sum of the parts' levels, for informed adversaries or under independent records."""
    informed = question.adversary == "informed"
    independent = isinstance(question.population, Independent) and question.adversary == "any"
    if not informed and not independent:
        raise CompositionRefusal(
            "Bayesian levels of mechanisms on the same unknown records don't add up.",
            ADDING_LEVELS,
            "State DP costs: they add up, and are converted once.",
        )
    parts = _parts(node.parts, question)
    total = sum_above(*(part.bdp_epsilon for part in parts))
    why = (
        "an informed adversary leaves nothing random" if informed else "the records are independent"
    )
    return Composed(total, f"levels add up here: {why}", None, parts)


def _largest(node: Parallel, question: Question) -> Composed:
    """The largest of levels, on blocks that are independent under the population."""
    if isinstance(node.blocks, Private):
        raise CompositionRefusal(
            "A Bayesian level says nothing of a record that enters or leaves a block of a private "
            "column.",
            BLOCKS_LEAK_SIZES,
            "State DP costs, with add_remove.",
        )
    why = "a public column says nothing about which records are independent"
    if isinstance(node.blocks, Indexed):
        reason = dependence(question.population, node.blocks.records)
        if reason is None:
            _check_own_blocks(node)
            parts = _parts(node.parts, question)
            return Composed(
                max(part.bdp_epsilon for part in parts),
                "the blocks are independent under the population: the largest level counts",
                None,
                parts,
            )
        why = reason
    raise CompositionRefusal(
        f"The largest Bayesian level counts on independent blocks only: {why}.",
        PARALLEL_MAX,
        "State DP costs: their maximum is converted once.",
    )


def _check_own_blocks(node: Parallel) -> None:
    """Raises `InputError` where a part names records outside of its block."""
    assert isinstance(node.blocks, Indexed)
    priced = (_with_costs(part) for part in node.parts)
    price(Parallel(node.blocks, *priced))


def _with_costs(node: CompositionNode) -> CompositionNode:
    """The same shape with costs of 1 where there are none: only its records matter."""
    if isinstance(node, Mechanism):
        return Mechanism(node.name, 1.0, records=node.records, add_remove=1.0)
    if isinstance(node, PostProcessing):
        return PostProcessing(_with_costs(node.inner), node.words)
    parts = [_with_costs(part) for part in node.parts]
    return Sequential(*parts) if isinstance(node, Sequential) else Parallel(node.blocks, *parts)


def _parts(parts: Sequence[CompositionNode], question: Question) -> tuple[Composed, ...]:
    return tuple(_level(part, question, alone=False) for part in parts)
