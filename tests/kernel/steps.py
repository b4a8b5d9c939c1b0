"""Conversion steps from the package's bounds, and what the kernel says to them."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import pytest

from bayesdp.kernel.arithmetic import InvalidError
from bayesdp.kernel.conversions.conversion import certified_level, conversion_level, read_conversion
from bayesdp.kernel.costs.composition import declared_cost
from bayesdp.kernel.reading import stated_step
from bayesdp.notions import Cost
from bayesdp.statements.conversions import DETAILS
from bayesdp.theorems import Bound, Question, report

CLOSE = 1e-9
ROUNDING = 1e-13


def bare(population) -> dict[str, Any]:
    """The declaration as a certificate has it, without who vouches for it."""
    plain = json.loads(json.dumps(population.spec()))
    return {key: value for key, value in plain.items() if key not in ("source", "covers")}


def make_step(
    rule: str,
    population: dict[str, Any],
    cost: Cost,
    *,
    adversary: str = "any",
    secrets: str = "bounded",
    epsilon: float = 1e300,
    details: Any = None,
    premises: Any = (),
) -> dict[str, Any]:
    return {
        "rule": rule,
        "conclusion": {"notion": "bdp", "epsilon": epsilon, "adversary": adversary},
        "evidence": {
            "population": population,
            "secrets": secrets,
            "cost": {
                "any": cost.any,
                "lipschitz": cost.lipschitz,
                "slack": cost.slack,
                "by_column": [asdict(spent) for spent in cost.by_column],
            },
            "covers": [],
            "independent": [],
            "details": dict(details or {}),
        },
        "premises": list(premises),
    }


def read_of(bound: Bound) -> dict[str, Any]:
    """The details of a bound that its rule reads, as a certificate has them."""
    read = DETAILS.get(bound.theorem, ())
    kept = {name: detail for name, detail in bound.evidence.items() if name in read}
    return json.loads(json.dumps(kept, default=list))


def derive(step: dict[str, Any]) -> float:
    """The kernel's verdict on a claim: `InvalidError`, or the level that it derives."""
    stated = stated_step(step)
    cost = declared_cost(stated.evidence.cost)
    return float(conversion_level(stated, read_conversion(stated, cost)).mid())


def agreed(
    population, cost: Cost, rules: set[str], adversary: str = "any", close: float = CLOSE
) -> dict[str, float]:
    """The kernel's levels by these rules, which must be the package's up to rounding (`close`).

    Allowing for its rounding the package must not be below; what the kernel proves is a claim that
    it accepts, and hardly less is one that it does not.
    """
    levels = {}
    for bound in report(Question(population, adversary), cost).bounds:
        if bound.theorem not in rules:
            continue
        step = make_step(
            bound.theorem,
            bare(population),
            cost,
            adversary=adversary,
            epsilon=bound.epsilon,
            details=read_of(bound),
        )
        level = certified_level(step)
        assert bound.epsilon * (1 - close) <= level <= bound.epsilon * (1 + ROUNDING), (bound, step)
        step["conclusion"]["epsilon"] = level
        derive(step)
        if cost.dp_epsilon < level:
            step["conclusion"]["epsilon"] = level * (1 - 1e-14)
            with pytest.raises(InvalidError):
                derive(step)
        levels[bound.theorem] = level
    return levels


def refused(step: dict[str, Any], kind: type[InvalidError] = InvalidError) -> str:
    """Why the kernel derives nothing from a step."""
    with pytest.raises(InvalidError) as refusal:
        certified_level(step)
    assert type(refusal.value) is kind, refusal.value
    return refusal.value.reason
