"""Chains of three to five states, short chains and chains of order two: the reference values."""

from __future__ import annotations

from typing import Any

import pytest

from tests.theorems.test_vectors import ask, check_markov, markov_arguments, vectors

MANY = [vector for vector in vectors("markov.json") if len(vector["population"]["transition"]) > 2]
SECOND = vectors("order2.json")


def named(vector: dict[str, Any]) -> str:
    return f"{vector['name']}-{vector['dp_epsilon']}-{vector['adversary']}"


def test_there_are_as_many_as_there_were() -> None:
    assert len(MANY) == 12
    assert len(SECOND) == 16


@pytest.mark.parametrize("vector", MANY, ids=named)
def test_many_states(vector: dict[str, Any]) -> None:
    answer = ask(*markov_arguments(vector))
    check_markov(vector, answer)
    theorems = {bound["theorem"] for bound in answer["bounds"]}
    assert {"markov-threshold", "markov-recursion", "markov-contraction"} <= theorems


@pytest.mark.parametrize("vector", SECOND, ids=named)
def test_order_two(vector: dict[str, Any]) -> None:
    answer = ask(*markov_arguments(vector))
    check_markov(vector, answer)
    nobody = ask(*markov_arguments(vector | {"adversary": "uninformed"}))
    assert vector["dp_epsilon"] <= nobody["best"]["epsilon"] <= answer["best"]["epsilon"] + 1e-9


@pytest.mark.parametrize("adversary", ["any", "uninformed"])
def test_vectors_hold_for_the_threshold_alone_as_upper_bounds(adversary: str) -> None:
    """A faster route is never below the sharp one's reference."""
    for vector in MANY:
        if vector["adversary"] != adversary:
            continue
        answer = ask(*markov_arguments(vector))
        bounds = {bound["theorem"]: bound["epsilon"] for bound in answer["bounds"]}
        low = vector.get("exact", vector.get("at_least"))
        assert all(value >= low - 1e-9 for value in bounds.values())
