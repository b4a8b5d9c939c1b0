"""Spends add up exactly and never downward; readings have stable names."""

from __future__ import annotations

import hashlib
import json
import math
import random
from fractions import Fraction

import pytest

from bayesdp.accounting import Reading, Spend, total_cost
from bayesdp.accounting.canonical import canonical_json
from bayesdp.accounting.costs.composition import level
from bayesdp.errors import InputError, LedgerError, UnsupportedError
from bayesdp.notions import Cost
from bayesdp.statements.spends import COLLECTED
from tests.accounting.helpers import BDP, CHAIN, DP, spend
from tests.effort import runs

SUM = {"kind": "lipschitz", "column": "height", "interval": (120, 220), "slack": 0.001}


def test_a_tenth_ten_times_is_the_exact_sum_rounded_up() -> None:
    total = total_cost([spend(0.1)] * 10).any
    assert sum([0.1] * 10) < 1 < 10 * Fraction(0.1)  # the naive sum would come out below the truth
    assert total == math.nextafter(1.0, 2.0)


def test_a_sum_that_is_a_float_is_not_rounded() -> None:
    assert total_cost([spend(0.25)] * 4) == Cost(any=1.0)
    assert total_cost([]) == Cost()


@pytest.mark.prove
def test_sums_are_the_smallest_float_not_below() -> None:
    draw = random.Random(1)
    for _ in range(runs(2000)):
        costs = [draw.random() * 10.0 ** draw.randint(-12, 3) for _ in range(draw.randint(1, 30))]
        exact = sum(map(Fraction, costs))
        total = total_cost([spend(cost) for cost in costs]).any
        assert Fraction(math.nextafter(total, 0.0)) < exact <= Fraction(total)


def test_kinds_are_summed_apart_and_slack_counts_for_lipschitz_only() -> None:
    with pytest.raises(InputError, match="lipschitz"):
        spend(0.5, slack=0.25)
    spends = [spend(0.5), spend(0.125, **SUM), spend(0.125, **SUM)]
    assert total_cost(spends) == Cost(any=0.5, lipschitz=0.25, slack=0.002)


@pytest.mark.parametrize("name", ["dataset", "unit"])
def test_different_data_sets_and_units_do_not_add(name: str) -> None:
    with pytest.raises(LedgerError, match="don't add up") as caught:
        total_cost([spend(), spend(**{name: "other"})])
    assert caught.value.key == f"spend.{name}"


def test_a_sum_beyond_all_floats_is_refused() -> None:
    with pytest.raises(LedgerError, match="largest number"):
        total_cost([spend(1.7e308)] * 2)


@pytest.mark.parametrize(
    ("key", "change"),
    [
        ("spend.dp_epsilon", {"dp_epsilon": 0.0}),
        ("spend.dp_epsilon", {"dp_epsilon": -1.0}),
        ("spend.dp_epsilon", {"dp_epsilon": math.inf}),
        ("spend.dp_epsilon", {"dp_epsilon": math.nan}),
        ("spend.dp_epsilon", {"dp_epsilon": True}),
        ("spend.dp_epsilon", {"dp_epsilon": Fraction(1, 3)}),
        ("spend.dp_epsilon", {"dp_epsilon": 2**53 + 1}),
        ("spend.slack", {"slack": -0.1}),
        ("spend.slack", {"slack": math.nan}),
        ("spend.dataset", {"dataset": " "}),
        ("spend.unit", {"unit": ""}),
        ("spend.query", {"query": None}),
        ("spend.mechanism", {"mechanism": ""}),
        ("spend.column", {"column": ""}),
        ("spend.kind", {"kind": "lipshitz"}),
        ("spend.kind", {**SUM, "column": None}),
        ("spend.kind", {**SUM, "interval": None}),
        ("spend.interval", {**SUM, "interval": (2.0, 1.0)}),
        ("spend.interval", {**SUM, "interval": (1.0, 1.0)}),
        ("spend.interval", {**SUM, "interval": (0.0, math.inf)}),
        ("spend.interval", {**SUM, "interval": (0.0,)}),
    ],
)
def test_wrong_spends_are_refused(key: str, change: dict[str, object]) -> None:
    with pytest.raises(InputError) as caught:
        spend(**{"dp_epsilon": 0.5, **change})
    assert caught.value.key == key


@pytest.mark.parametrize(
    "other",
    [
        {**SUM},
        {"dp_epsilon": 0.0, "rho": 0.5},
        {"column": "x", "reads": ("x",), "mechanism": COLLECTED},
    ],
)
def test_a_delta_stands_beside_a_pure_cost_of_any_mechanism(other: dict[str, object]) -> None:
    assert spend(0.5, dp_delta=1e-9).dp_delta == 1e-9
    assert spend(**{"dp_epsilon": 0.5, **other}).dp_delta == 0.0
    with pytest.raises(UnsupportedError, match=r"spend\.dp_delta"):
        spend(**{"dp_epsilon": 0.5, "dp_delta": 1e-9, **other})


@pytest.mark.parametrize("delta", [-1e-9, 1.0, math.nan, True, Fraction(1, 10**9)])
def test_a_delta_is_a_probability_below_1(delta: object) -> None:
    with pytest.raises(InputError, match=r"spend\.dp_delta"):
        spend(0.5, dp_delta=delta)


def test_a_spend_survives_json() -> None:
    item = spend(0.1, **SUM)
    assert Spend.from_dict(json.loads(json.dumps(item.to_dict()))) == item
    assert Spend.from_dict(spend().to_dict()) == spend()


def test_unknown_and_missing_keys_are_named() -> None:
    with pytest.raises(InputError, match=r"spend\.dp_epsilom.*'dp_epsilon'"):
        Spend.from_dict({**spend().to_dict(), "dp_epsilom": 1.0})
    with pytest.raises(InputError, match=r"spend\.query"):
        Spend.from_dict({"dataset": "d", "unit": "row"})
    with pytest.raises(InputError, match=r"reading\.total"):
        Reading.from_dict({"notion": "dp"})


def test_the_key_is_stable() -> None:
    """Ledgers outlive versions: the text that is hashed must never change."""
    text = (
        '{"adversary":"any","covers":["x"],"independent":[],"notion":"bdp",'
        '"population":{"model":"independent"},"secrets":"bounded","total":1}'
    )
    reading = Reading("bdp", 1, {"model": "independent"}, covers=("x",))
    assert reading.key() == hashlib.sha256(text.encode()).hexdigest()


def test_the_key_ignores_how_the_same_thing_is_written() -> None:
    item = Reading("bdp", 1, {"model": "markov", "transition": [[1, 0], [0, 1]]}, covers=("b", "a"))
    two = Reading(
        "bdp", 1.0, {"transition": ((1.0, 0.0), (-0.0, 1.0)), "model": "markov"}, covers=("a", "b")
    )
    assert item.key() == two.key()
    assert hash(item) == hash(two)


@pytest.mark.parametrize(
    "change",
    [
        {"notion": "dp", "population": None},
        {"population": {**CHAIN, "length": 4}},
        {"adversary": "informed"},
        {"secrets": "unbounded"},
    ],
)
def test_the_subject_tells_readings_apart(change: dict[str, object]) -> None:
    other = Reading.from_dict({**BDP.to_dict(), **change})
    assert other.key() != BDP.key()
    assert other.subject_key() != BDP.subject_key()


@pytest.mark.parametrize("change", [{"total": 2.0}, {"covers": ["x"]}])
def test_total_and_columns_are_in_the_key_but_not_in_the_subject(change: dict[str, object]) -> None:
    other = Reading.from_dict({**BDP.to_dict(), **change})
    assert other.key() != BDP.key()
    assert other.subject_key() == BDP.subject_key()


def test_for_dp_nothing_but_the_total_matters() -> None:
    other = Reading("dp", 1.0, adversary="informed", secrets="unbounded", covers=("x",))
    assert other.key() == DP.key()


def test_a_reading_keeps_its_own_copy_of_the_population() -> None:
    spec = {"model": "markov", "transition": [[0.9, 0.1], [0.3, 0.7]]}
    reading = Reading("bdp", 1.0, spec)
    key = reading.key()
    spec["transition"][0][0] = 0.5
    assert reading.key() == key


def test_words_name_what_matters() -> None:
    words = Reading("bdp", 1.5, CHAIN, "informed", "unbounded", ("steps",)).words()
    for part in ("Bayesian DP", "1.5", "markov", "length = 3", "informed", "unbounded", "steps"):
        assert part in words
    assert "0.9" not in words  # no matrices in a message
    assert DP.words() == "DP, at most 1"


@pytest.mark.parametrize(
    ("key", "change"),
    [
        ("reading.notion", {"notion": "bpd"}),
        ("reading.total", {"total": 0.0}),
        ("reading.total", {"total": -1.0}),
        ("reading.total", {"total": math.nan}),
        ("reading.total", {"total": math.inf}),
        ("reading.adversary", {"adversary": "all"}),
        ("reading.secrets", {"secrets": "none"}),
        ("reading.covers", {"covers": "height"}),
        ("reading.covers", {"covers": [""]}),
        ("reading.population", {"population": None}),
        ("reading.population", {"notion": "dp"}),
        ("data", {"population": {"model": "markov", "transition": math.nan}}),
        ("data", {"population": {"model": object()}}),
        ("data", {"population": {1: "markov"}}),
    ],
)
def test_wrong_readings_are_refused(key: str, change: dict[str, object]) -> None:
    with pytest.raises(InputError) as caught:
        Reading.from_dict({**BDP.to_dict(), **change})
    assert caught.value.key == key


def test_a_large_population_is_written_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Levels are asked for many times while a study is priced: its text must be at hand."""
    spec = {"model": "clusters", "size": 3}
    reading = Reading("bdp", 9.0, spec, covers=("x",))
    assert reading.population_text == canonical_json(spec)
    assert "population_text" not in reading.to_dict()
    assert Reading.from_dict(reading.to_dict()) == reading
    key = hashlib.sha256(
        canonical_json(
            {
                "notion": "bdp",
                "population": spec,
                "adversary": "any",
                "secrets": "bounded",
                "total": 9.0,
                "covers": ["x"],
                "independent": [],
            }
        ).encode("ascii")
    ).hexdigest()
    assert reading.key() == key
    monkeypatch.setattr("bayesdp.accounting.costs.readings.canonical_json", None)
    assert level(reading, [Spend("d", "row", "q", "any", 0.5)]) == pytest.approx(1.5)


def test_whole_numbers_have_one_form_wherever_they_stand() -> None:
    numbers = [1.0, -0.0, 2.50, 1e15, 1e16, 2.0**53, 0.05, [120.0]]
    text = canonical_json({"x": numbers, "y": 3.0, "z": "1.0"})
    assert text == (
        '{"x":[1,0,2.5,1000000000000000,1e+16,9007199254740992.0,0.05,[120]],"y":3,"z":"1.0"}'
    )
    assert canonical_json(json.loads(text)) == text
    assert canonical_json([0.05, 1e-7]) == "[0.05,1e-07]"


def test_what_a_caller_changes_in_a_reading_changes_nothing_that_is_kept() -> None:
    reading = Reading("bdp", 9.0, {"model": "clusters", "size": 3}, covers=("x",))
    before = reading.key(), reading.to_dict()
    assert reading.population is not None
    reading.population["size"] = 4
    assert (reading.key(), reading.to_dict()) == before
    odd = Reading("bdp", 9.0, {"model": "clusters", "source": '"population":null', "size": 3})
    assert odd.key() != Reading("bdp", 9.0, {"model": "clusters", "size": 3}).key()
