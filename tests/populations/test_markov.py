"""Markov chains as data: shapes, rows, intervals, starts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bayesdp.errors import InputError
from bayesdp.populations import MarkovChain, parse
from bayesdp.populations.markov import eliminated, stationary_law
from bayesdp.statements import StatementError, read_population

TWO = [[0.9, 0.1], [0.2, 0.8]]
SECOND = [[[0.9, 0.1], [0.4, 0.6]], [[0.7, 0.3], [0.2, 0.8]]]
LOW, HIGH = [[0.5, 0.1], [0.2, 0.5]], [[0.9, 0.5], [0.5, 0.8]]


def test_rows_are_rescaled_and_arrays_accepted() -> None:
    rough = MarkovChain(transition=np.array([[0.9, 0.1 + 5e-10], [0.2, 0.8]]), length=3)
    assert sum(rough.transition[0]) == pytest.approx(1.0, abs=1e-15)
    assert rough.states == 2
    assert rough.group_size == 3
    assert rough.structure == "series"


@pytest.mark.parametrize(
    "population",
    [
        {"transition": TWO},
        {"transition": TWO, "initial": [0.3, 0.7]},
        {"transition": SECOND, "order": 2},
        {"transition": SECOND, "order": 2, "initial": [[0.1, 0.2], [0.3, 0.4]]},
        {"transition_lower": LOW, "transition_upper": HIGH},
        {"transition": [[0.0, 1.0], [1.0, 0.0]]},
    ],
)
def test_there_and_back(population) -> None:
    item = parse({"model": "markov", "length": 12} | population)
    assert parse(item.spec()) == item
    assert hash(parse(item.spec())) == hash(item)
    assert "Markov chain" in item.describe()


def test_descriptions_say_what_is_known() -> None:
    assert "of order 2" in MarkovChain(transition=SECOND, order=2, length=5).describe()
    known = MarkovChain(transition_lower=LOW, transition_upper=HIGH, length=5)
    assert "transitions, the same at every step, lie in given intervals" in known.describe()
    assert "given law" in MarkovChain(transition=TWO, initial=[1, 0], length=5).describe()


@pytest.mark.parametrize(
    ("population", "where"),
    [
        ({"transition": [[0.9, 0.2], [0.2, 0.8]]}, r"transition\[0\]"),
        ({"transition": [[0.9, 0.1]]}, "transition"),
        ({"transition": [[0.9, 0.1], [0.2, 0.7, 0.1]]}, r"transition\[1\]"),
        ({"transition": [[0.9, 0.1], [0.2, "much"]]}, r"transition\[1\]\[1\]"),
        ({"transition": [[1.1, -0.1], [0.2, 0.8]]}, r"transition\[0\]"),
        ({"transition": [[True, False], [0.2, 0.8]]}, r"transition\[0\]\[0\]"),
        ({"transition": TWO, "order": 2}, r"transition\[0\]\[0\]"),
        ({"transition": SECOND}, r"transition\[0\]"),
        ({"transition": TWO, "transition_lower": LOW}, "transition"),
        ({}, "transition"),
        ({"transition_lower": LOW}, "transition"),
        ({"transition_lower": HIGH, "transition_upper": LOW}, r"transition_lower\[0\]"),
        (
            {"transition_lower": LOW, "transition_upper": [[0.5, 0.1], [0.5, 0.8]]},
            r"transition_lower\[0\]",
        ),
        (
            {"transition_lower": [[0.9, 0.2], [0.2, 0.5]], "transition_upper": [[1, 1], [1, 1]]},
            r"transition_lower\[0\]",
        ),
        ({"transition_lower": LOW, "transition_upper": [[1.0] * 3] * 3}, "transition_upper"),
        ({"transition_lower": [[-0.1, 0], [0, 0]], "transition_upper": HIGH}, "transition_lower"),
        ({"transition": TWO, "initial": [0.5, 0.6]}, "initial"),
        ({"transition": TWO, "initial": [0.5, 0.3, 0.2]}, "initial"),
        ({"transition": TWO, "initial": "uniform"}, "initial"),
        ({"transition": SECOND, "order": 2, "initial": [0.5, 0.5]}, "initial"),
        ({"transition": [[1.0, 0.0], [0.0, 1.0]]}, "initial"),
    ],
)
def test_wrong_specs_name_the_place(population, where) -> None:
    with pytest.raises(InputError, match=where):
        parse({"model": "markov", "length": 12} | population)


def test_the_number_of_states_is_limited() -> None:
    with pytest.raises(InputError, match="201 states"):
        MarkovChain(transition=np.full((201, 201), 1 / 201), length=2)


def test_stationary_laws_by_hand() -> None:
    assert stationary_law(((0.9, 0.1), (0.2, 0.8))) == pytest.approx((2 / 3, 1 / 3))
    three = stationary_law(((0.5, 0.5, 0.0), (0.25, 0.5, 0.25), (0.0, 0.5, 0.5)))
    assert three == pytest.approx((0.25, 0.5, 0.25))
    leaving = stationary_law(((0.5, 0.25, 0.25), (0.0, 0.5, 0.5), (0.0, 0.5, 0.5)))
    assert leaving == (0.0, 0.5, 0.5)
    assert eliminated([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]) == (
        pytest.approx((1 / 3,) * 3)
    )
    with pytest.raises(InputError, match="several stationary laws"):
        stationary_law(((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.3, 0.3, 0.4)))


def test_small_probabilities_are_not_rounded_to_zero() -> None:
    d = 1e-12
    law = stationary_law(((1 - d, d, 0.0), (0.5, 0.5 - d, d), (0.0, 0.5, 0.5)))
    assert law[2] == pytest.approx(4 * d * d, rel=1e-9)


ABSORBING = [[0.95, 0.05, 0.0], [0.0, 0.8, 0.2], [0.0, 0.0, 1.0]]
STARTS_UNSTATED: list[tuple[str, dict[str, Any]]] = [
    ("State 0 is left for good", {"transition": ABSORBING}),
    ("State 1 is left for good", {"transition": [[1.0, 0.0], [1.0, 0.0]]}),
    (
        "several stationary laws",
        {"transition_lower": np.eye(2).tolist(), "transition_upper": np.eye(2).tolist()},
    ),
    (
        "State 0 is left for good",
        {
            "transition_lower": [[0.5, 0.5], [0.0, 1.0]],
            "transition_upper": [[0.5, 0.5], [0.1, 1.0]],  # the row sums to 1 without the 0.1
        },
    ),
    (
        "The run of states 0, 0 is left for good",
        {"transition": [[[0.5, 0.5], [0.0, 1.0]], [[0.0, 1.0], [0.5, 0.5]]], "order": 2},
    ),
]


@pytest.mark.parametrize(("reason", "stated"), STARTS_UNSTATED)
def test_a_chain_that_leaves_states_for_good_states_its_start(
    reason: str, stated: dict[str, Any]
) -> None:
    with pytest.raises(InputError, match=f"population.initial.*{reason}"):
        MarkovChain(**stated, length=30)
    with pytest.raises(StatementError, match="stationary law"):
        read_population({"model": "markov", **stated, "length": 30})
    states = len(next(table for key, table in stated.items() if key != "order"))
    shape = (states,) * stated.get("order", 1)
    initial = np.full(shape, 1 / states ** len(shape)).tolist()
    spec = MarkovChain(**stated, initial=initial, length=30).spec()
    assert read_population(spec).length == 30


@pytest.mark.parametrize(
    "stated",
    [
        {"transition": [[0.0, 1.0], [1.0, 0.0]]},
        {"transition": [[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [1.0, 0.0, 0.0]]},
        {
            "transition_lower": [[0.9, 0.0], [0.0, 0.9]],
            "transition_upper": [[1.0, 0.1], [0.1, 1.0]],
        },
        {"transition": [[[0.5, 0.5], [0.5, 0.5]], [[1.0, 0.0], [0.5, 0.5]]], "order": 2},
    ],
)
def test_where_every_state_recurs_zeros_need_no_start(stated: dict[str, Any]) -> None:
    assert read_population(MarkovChain(**stated, length=30).spec()).initial == "stationary"


def test_an_absorbing_chain_leaks_far_more_than_its_stationary_law_says() -> None:
    begun = MarkovChain(transition=ABSORBING, initial=[0.99, 0.01, 0.0], length=30)
    assert 1.0 / begun.calibrate(1.0).dp_epsilon == pytest.approx(25.4, abs=0.1)
