"""What is proved of a composition, at a delta or without one, and the DP cost behind it."""

from __future__ import annotations

from ..errors import InputError, Refusal
from ..theorems import Question
from .composition import converted
from .expressions import Node, Price, price
from .levels import composed_level
from .spend import Reading, Spend


def proved(node: Node, question: Question, delta: float) -> tuple[float, str, Price | None]:
    """The proved level, why, and the DP cost where there is one."""
    try:
        priced = price(node)
    except Refusal:
        return *_without_delta(node, question), None
    if delta > 0.0:
        return *_at_delta(priced, question, delta), priced
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


def _at_delta(priced: Price, question: Question, delta: float) -> tuple[float, str]:
    """The level that a ledger's reading gives to the whole cost."""
    costs = [(priced.dp_epsilon, 0.0), (0.0, priced.rho)]
    spends = [
        Spend("what if", "row", "all", "any", dp_epsilon, rho=rho)
        for dp_epsilon, rho in costs
        if dp_epsilon > 0.0 or rho > 0.0
    ]
    if not spends:
        return 0.0, "nothing is spent"
    spec = {k: v for k, v in question.population.spec().items() if k not in ("source", "covers")}
    reading = Reading("bdp", 1e9, spec, adversary=question.adversary, delta=delta)
    best = converted(reading, spends, fixed=True, search=question.deadline).best
    return best.epsilon, f"composed at the DP level, converted once by {best.theorem}"
