"""Messages of any values and factors: against brute force, random evidence and two values."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx, fmpq

from bayesdp.leakage import state_fields
from bayesdp.leakage import thresholds as of_factors
from bayesdp.leakage.contraction import graph_level
from bayesdp.leakage.deadline import Deadline, OutOfTimeError
from bayesdp.leakage.fields import field_messages, fields_level
from bayesdp.leakage.merged_factors import MergedFactors, merged_factors
from bayesdp.leakage.state_fields import (
    StateMessages,
    preparation_seconds,
    state_messages,
    states_level,
)
from bayesdp.numbers import UNIT
from bayesdp.populations import Family, Graph, Network
from tests.effort import runs
from tests.leakage.test_fields import BELOW, graph_of, joint_of, random_epsilon, random_pairs
from tests.oracles import finite

THREE = [[2.0, 1.0, 0.3], [1.0, 2.5, 0.2], [0.3, 0.4, 0.1]]


def messages_of(graph: Graph | Network) -> StateMessages:
    prepared = state_messages(graph.factor_graph, laws=isinstance(graph, Network))
    assert isinstance(prepared, StateMessages), prepared
    return prepared


def level(graph: Graph | Network, dp_epsilon: float) -> float:
    return states_level(messages_of(graph), dp_epsilon)[0].epsilon


def random_states(rng: np.random.Generator, largest: int = 3) -> Graph:
    """Two or three values, rare ones among them, pairs and factors of three, and zeros in some."""
    records = int(rng.integers(2, largest + 1))
    states = [int(rng.integers(2, 4)) for _ in range(records)]
    zeros, share = float(rng.choice([0.0, 0.0, 0.0, 0.15, 0.3])), float(rng.choice([0.3, 0.7]))
    factors: list[dict[str, Any]] = []
    for size, chance in ((1, 1.0), (2, share), (3, 0.3)):
        for between in itertools.combinations(range(records), size):
            if rng.random() < chance:
                shape = tuple(states[record] for record in between)
                spread = rng.choice([0.5, 2.0, 4.0] if size == 1 else [0.3, 1.0, 2.0])
                table = np.exp(rng.normal(size=shape) * spread)
                if size > 1:
                    table *= rng.random(shape) >= zeros
                factors.append({"between": between, "table": (table + ~table.any()).tolist()})
    return Graph(records=records, states=states, factors=factors)


def of_states(graph: Graph) -> np.ndarray | None:
    """The law multiplied out, or nothing where the factors contradict each other."""
    assert isinstance(graph.states, tuple)
    assert graph.factors is not None
    law = np.ones(graph.states)
    for factor in graph.factors:
        shape = [1] * graph.records
        for record in factor.between:
            shape[record] = graph.states[record]
        law = law * np.asarray(factor.table, float).reshape(shape)
    return law / law.sum() if law.sum() > 0 else None


def is_nested(graph: Graph) -> bool:
    """Whether some factor's members are among another one's."""
    ties = [set(factor.between) for factor in graph.factors or () if len(factor.between) > 1]
    return any(first < second for first in ties for second in ties)


@pytest.mark.prove
def test_no_mechanism_leaks_more_and_contraction_is_never_lower() -> None:
    rng = np.random.default_rng(3711)
    lower = tried = 0
    for _ in range(runs(2000)):
        graph, eps = random_states(rng), random_epsilon(rng)
        joint = of_states(graph)
        if joint is None:
            continue
        tried += 1
        reached = level(graph, eps)
        truth = max(finite.worst_case(joint, eps).level, eps)
        assert truth - BELOW <= reached, (graph.spec(), eps)
        plain = graph_level(graph.factor_graph, eps).epsilon
        assert reached <= plain * (1 + 1e-10) or is_nested(graph), (graph.spec(), eps)
        lower += reached < plain * (1 - 1e-6)
    assert lower > tried / 4


@pytest.mark.prove
def test_no_mechanism_leaks_more_about_four_records() -> None:
    rng = np.random.default_rng(3712)
    for _ in range(runs(60)):
        graph, eps = random_states(rng, 4), random_epsilon(rng)
        joint = of_states(graph)
        if joint is not None:
            truth = max(finite.worst_case(joint, eps).level, eps)
            assert level(graph, eps) >= truth - BELOW, (graph.spec(), eps)


def test_two_values_and_pairs_are_a_special_case() -> None:
    rng = np.random.default_rng(3713)
    for _ in range(runs(600)):
        graph, eps = random_pairs(rng), random_epsilon(rng)
        two = field_messages(graph.factor_graph)
        if joint_of(graph) is not None and not isinstance(two, str):
            due = fields_level(two, eps).epsilon
            assert level(graph, eps) == pytest.approx(due, rel=1e-10), (graph.spec(), eps)


# ------------------------------------------------------ against random evidence


def random_evidence(rng: np.random.Generator, most: np.ndarray) -> np.ndarray:
    """A function of settings of which no two values are further apart than `most`, in logarithms.

    Often as far apart as that: the least such function above random values.
    """
    start = rng.normal(size=len(most)) * rng.choice([0.1, 1.0, 10.0])
    return np.asarray((most + start[None, :]).min(axis=1))


def pairs_of_rows(rng: np.random.Generator) -> Iterator[tuple[Any, np.ndarray]]:
    """Two rows of a factor by up to seven settings, and how far evidence tells these apart."""
    count = int(rng.integers(2, 8))
    points = rng.normal(size=(count, 3)) * rng.choice([0.1, 0.5, 3.0])
    apart = np.abs(points[:, None] - points[None, :]).sum(axis=2)
    apart += rng.normal() * (points[:, :1] - points[None, :, 0])
    apart = np.maximum(apart, 0.0) if rng.random() < 0.3 else apart
    for middle in range(count):  # no detour is shorter
        apart = np.minimum(apart, apart[:, middle, None] + apart[None, middle])
    if (np.diag(apart) >= 0.0).all():
        np.fill_diagonal(apart, 0.0)
        weights = np.exp(rng.normal(size=(2, count)) * rng.choice([0.3, 2.0]))
        yield weights, apart


def test_odds_at_thresholds_are_bounded_whatever_the_evidence() -> None:
    rng = np.random.default_rng(3714)
    close = seen = 0
    for _ in range(runs(2000, least=100)):
        for (alpha, beta), apart in pairs_of_rows(rng):
            settings = [(z,) for z in range(len(apart))]
            exact = [[Fraction(weight) for weight in row] for row in (alpha, beta)]
            pair = of_factors._Pair(*exact, settings, apart.tolist())
            for above, below in pair.parts():
                most, least, ratio = pair.bounds_at(above, below)
                actual = []
                for _ in range(12):
                    nu = np.exp(random_evidence(rng, apart))
                    p, q = (
                        math.log((row * nu)[above].sum() / (row * nu)[below].sum())
                        for row in (alpha, beta)
                    )
                    assert p <= most + 1e-9
                    assert q >= least - 1e-9
                    assert p - q <= ratio + 1e-9
                    actual.append((p, q, p - q))
                seen += 1
                close += (
                    max(most - max(p for p, _, _ in actual), ratio - max(d[2] for d in actual))
                    < 0.5
                )
    assert close > seen / 5


def test_a_setting_that_is_nearly_as_high_does_not_hide_behind_a_low_one() -> None:
    """Of three settings above the threshold the second alone may be likely."""
    first = [Fraction(x) for x in ("1", "0.99", "0.01", "0.001")]
    second = [Fraction(1)] * 4
    apart = np.full((4, 4), 6.0)
    np.fill_diagonal(apart, 0.0)
    pair = of_factors._Pair(first, second, [(z,) for z in range(4)], apart.tolist())
    nu = np.exp([0.0, 6.0, 0.0, 0.0])
    mean = math.log((np.array([1.0, 0.99, 0.01]) * nu[:3]).sum() / nu[:3].sum())
    assert pair._mean(pair.first, pair.second, [0, 1, 2]) >= mean


# ------------------------------------------------------ what is merged, shared, or not covered


def test_factors_are_merged_and_known_records_left_out() -> None:
    table = np.random.default_rng(1).uniform(0.2, 3.0, (2, 3, 2))
    pair = np.array([[1.0, 2.0, 0.5], [0.3, 1.0, 1.0]])
    whole = graph_of(3, ([0, 1, 2], (table * pair[:, :, None]).tolist()), states=[2, 3, 2])
    split = graph_of(
        3,
        ([2, 0, 1], table.transpose(2, 0, 1).tolist()),
        ([1, 0], pair.T.tolist()),
        states=[2, 3, 2],
    )
    assert level(split, 0.7) == pytest.approx(level(whole, 0.7), rel=1e-9)
    known = np.zeros((2, 3, 2, 3))
    known[..., 1] = table
    more = graph_of(
        4, ([0, 1, 2, 3], known.tolist()), ([1, 0], pair.T.tolist()), ([3, 1], [[1.0] * 3] * 3),
        states=[2, 3, 2, 3],
    )  # fmt: skip
    assert level(more, 0.7) == pytest.approx(level(whole, 0.7), rel=1e-9)


def test_what_nothing_depends_on_costs_nothing() -> None:
    product = np.multiply.outer([1.0, 2.0, 4.0], np.multiply.outer([1.0, 3.0], [1.0, 5.0]))
    assert level(graph_of(3, ([0, 1, 2], product.tolist()), states=[3, 2, 2]), 0.7) == 0.7
    assert level(graph_of(1, ([0], [1.0, 2.0, 3.0]), states=3), 0.7) == 0.7


def test_equal_factors_may_share_numbers_and_a_corner_has_every_place() -> None:
    mild = [[1.3, 1.0, 0.3], [1.0, 1.2, 0.2], [0.3, 0.25, 0.1]]
    grid = Graph(grid=(5, 6), table=mild)
    merged = merged_factors(grid.factor_graph, False, 10**6)
    assert not isinstance(merged, str)
    each, shared = StateMessages(merged, False), StateMessages(merged, True)
    sharp, wide = (states_level(prepared, 0.4)[0].epsilon for prepared in (each, shared))
    assert each.size == 49 * 12 > 2 * shared.size
    assert sharp <= wide <= graph_level(grid.factor_graph, 0.4).epsilon
    corner = state_messages(Graph(grid=(4, 4), table=mild).factor_graph, component=30)
    assert isinstance(corner, StateMessages)
    assert states_level(corner, 0.4)[0].epsilon == pytest.approx(wide, rel=1e-12)


def test_large_factors_are_only_contracted(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3715)
    for _ in range(runs(60, least=5)):
        graph, eps = random_states(rng), random_epsilon(rng)
        sharp, plain = level(graph, eps), graph_level(graph.factor_graph, eps).epsilon
        with monkeypatch.context() as patched:
            patched.setattr(of_factors, "MOST_SETTINGS", 0)
            coarse = states_level(StateMessages(messages_of(graph).merged), eps)[0].epsilon
        assert sharp <= coarse * (1 + 1e-10)
        assert coarse <= plain * (1 + 1e-10) or is_nested(graph)


def test_rare_values_pass_little_on() -> None:
    """A hub of ten contacts, each ill with two grades of severity, both rare."""
    table = [[1.0, 1.0, 1.0], [1.0, 4.0, 6.0]]
    rare = {"table": [1.0, 0.02, 0.005]}
    factors = [{"between": [0, j], "table": table} for j in range(1, 11)]
    factors += [{"between": [j]} | rare for j in range(1, 11)]
    hub = Graph(records=11, states=[2] + [3] * 10, factors=factors)
    assert level(hub, 0.05) < 0.8 * graph_level(hub.factor_graph, 0.05).epsilon


def test_levels_rise_with_the_cost_and_are_never_below_it() -> None:
    grid = Graph(grid=(1, 4), table=THREE)
    costs = [1e-300, 1e-9, *np.geomspace(0.01, 50.0, 8)]
    levels = [level(grid, eps) for eps in costs]
    assert all(first <= second for first, second in itertools.pairwise(levels))
    for eps, reached in zip(costs, levels, strict=True):
        assert eps <= reached <= 4 * eps * (1 + 1e-12)
        afresh = level(Graph(grid=(1, 4), table=THREE), eps)
        assert afresh == pytest.approx(level(grid, eps), rel=1e-9)


def test_without_time_there_is_no_step_and_then_the_caps_stand() -> None:
    grid = Graph(grid=(3, 3), table=THREE)
    with pytest.raises(OutOfTimeError):
        state_messages(grid.factor_graph, deadline=Deadline(0.0))
    prepared = messages_of(grid)
    over = states_level(prepared, 0.3, Deadline(0.0))[0].epsilon
    assert level(grid, 0.3) < over <= 9 * 0.3 * (1 + 1e-12)


def test_what_is_not_covered_says_why() -> None:
    apart = graph_of(
        2, ([0, 1], np.eye(3).tolist()), ([0, 1], (1.0 - np.eye(3)).tolist()), states=3
    )
    assert state_messages(apart.factor_graph) == "the factors leave a record no value"
    assert merged_factors(apart.factor_graph, False, 17) == "its factors have more than 17 weights"


@pytest.mark.parametrize("first", [0, 1])
def test_a_large_grid_is_not_taken_for_a_smaller_one_of_the_same_table(first: int) -> None:
    """Both are known by one corner; what is capped is capped by the records of each."""
    table = [[math.exp(9.0) if a == b else 1.0 for b in range(3)] for a in range(3)]
    epsilon, lengths = 0.001, (401, 3000)
    grids = [Graph(grid=(1, length), table=table) for length in lengths]
    asked = grids if first == 0 else grids[::-1]
    levels = {grid.table_size: grid.leakage(epsilon, seconds=20).best.epsilon for grid in asked}
    rows = np.array(table) / np.sum(table, axis=1, keepdims=True)
    weights, after = np.array([math.exp(epsilon), 1.0, 1.0]), np.ones(3)
    for _ in range(lengths[1] - 1):
        after = rows @ (weights * after)
    count = epsilon + math.log(after[0] / after[1])  # what a noisy count leaks about an end
    assert count > 1.7
    assert levels[lengths[1]] >= count
    assert levels[lengths[0]] <= 0.401 + 1e-9
    both = Family(members=tuple(asked)).leakage(epsilon, seconds=20)
    assert both.best.epsilon >= count


def test_a_network_of_many_kinds_of_people_is_left_out_for_time_by_an_estimate() -> None:
    rng = np.random.default_rng(5)
    nodes: list[dict[str, Any]] = [
        {"name": f"p{i}", "states": 2, "table": [0.9, 0.1]} for i in range(40)
    ]
    for child in range(160):
        parents = [f"p{parent}" for parent in rng.choice(len(nodes), 2, replace=False)]
        table = [[[0.92, 0.08], [0.85, 0.15]], [[0.85, 0.15], [0.75, 0.25]]]
        nodes.append({"name": f"p{40 + child}", "states": 2, "parents": parents, "table": table})
    network = Network(nodes=nodes)
    needed = preparation_seconds(network.factor_graph, True)
    assert needed > 0.5
    refused = {row.theorem: row for row in network.leakage(0.5, seconds=0.5).refused}
    assert "it would take about" in refused["graph-fields"].reason
    enough = refused["graph-fields"].seconds
    assert enough is not None
    assert enough >= needed


def test_a_graph_is_merged_and_its_work_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A calibration asks about one graph many times: of 28,081 people each count took seconds."""
    counted: list[MergedFactors] = []
    count = state_fields._settings_compared
    monkeypatch.setattr(
        state_fields, "_settings_compared", lambda merged: counted.append(merged) or count(merged)
    )
    table = np.arange(1.0, 28.0).reshape(3, 3, 3).tolist()
    graph = Graph(records=3, states=3, factors=[{"between": [0, 1, 2], "table": table}])
    assert len({preparation_seconds(graph.factor_graph) for _ in range(3)}) == 1
    assert len(counted) == 1


def test_steps_are_shared_by_factors_whose_other_members_are_alike() -> None:
    """What is kept for the kinds of records is what each factor would have by itself."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        tables = [rng.integers(1, 4, (3, 3)).tolist() for _ in range(2)]
        edges = [(i, j) for i, j in itertools.combinations(range(6), 2) if rng.random() < 0.5]
        factors = [{"between": list(edge), "table": tables[int(rng.integers(2))]} for edge in edges]
        if not factors:
            continue
        merged = merged_factors(
            Graph(records=6, states=3, factors=factors).factor_graph, False, 10**4
        )
        assert not isinstance(merged, str)
        alike = state_fields._Alike(merged)
        own = [
            sorted(
                (id(table), place)
                for tie, table in merged.factors.items()
                for place, member in enumerate(tie)
                if member == record
            )
            for record in range(6)
        ]
        for first, second in itertools.combinations(range(6), 2):
            assert (alike.kind[first] == alike.kind[second]) == (own[first] == own[second])
        for tie, table in merged.factors.items():
            for place, others in enumerate(alike.others(tie, table)):
                rest = list(own[tie[place]])
                rest.remove((id(table), place))
                assert sorted(others.elements()) == rest


def test_logarithms_of_long_fractions_are_not_rounded_down() -> None:
    rng = np.random.default_rng(6)
    for _ in range(2000):
        # Close to 2 in size, with numerators of up to a thousand digits.
        first, second = (Fraction(float(rng.random())) ** int(rng.integers(1, 60)) for _ in "ab")
        ratio = first / second * Fraction(2) ** int(rng.integers(-2, 3))
        with ctx.workprec(300):
            true = arb(fmpq(ratio.numerator, ratio.denominator)).log()
            assert abs(arb(of_factors._log_of(ratio)) - true) <= abs(true) * (32.0 * UNIT)
