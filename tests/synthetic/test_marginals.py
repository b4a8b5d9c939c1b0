"""Released counts are read as what they count: held against the table itself, row by row."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayesdp.errors import UnknownNameError, UnsupportedError
from bayesdp.mechanisms import DiscreteGaussian, DiscreteLaplace
from bayesdp.release.results.release import Release
from bayesdp.statements.results import NumberResult
from bayesdp.synthetic import marginals as module
from bayesdp.synthetic.attributes import ANY_OTHER, Attribute, Interval
from bayesdp.synthetic.marginals import ReleasedMarginals, deviation, released_marginals
from bayesdp.synthetic.releases import columns_of_all, read_releases
from tests.synthetic.studies import AGES, COLUMNS, ILL_SMOKES, released, table

QUERIES: list[dict[str, Any]] = [
    ILL_SMOKES,
    AGES,
    AGES | {"name": "coarse", "bins": [10, 40, 80], "where": "ill == 1", "by": ["day", "region"]},
    {"name": "old, heavy", "kind": "histogram", "column": ["old", "heavy"], "by": "day"},
    {"name": "size", "kind": "histogram", "column": "size", "where": "not (age <= 40) or old == 0"},
    {"name": "blue", "kind": "count", "where": "blue == 1 and day >= '2026-01-02'"},
    {"name": "not 40", "kind": "count", "where": "20 < age <= 40 and smokes != 'no'"},
    {"name": "smokers", "kind": "proportion", "where": "smokes == 'yes'", "by": "region"},
    {"name": "blue town", "kind": "histogram", "column": ["town", "blue"]},
    {"name": "mean", "kind": "mean", "column": "age", "where": "day == '2026-01-01'"},
    {"name": "spread", "kind": "variance", "column": "age", "by": "region"},
    {"name": "line", "kind": "regression", "outcome": "age", "on": ["ill"], "by": "region"},
]
NOT_COUNTS = 3
"""The last queries, which are not counts: only over how many rows they are is used."""


def read(release: Release | list[Release], without: tuple[str, ...] = ()) -> ReleasedMarginals:
    verified = read_releases(release)
    stated = [item.stated for item in verified]
    return released_marginals(stated, columns_of_all(verified), without)


def atom(attribute: Attribute, value: Any) -> int:
    """The atom that a cell of the table lies in, of which there must be one."""
    if attribute.intervals:
        low, high = COLUMNS.get(attribute.name, {}).get("bounds", (-math.inf, math.inf))
        number = min(max(value, low), high)
        inside = [i for i, interval in enumerate(attribute.intervals) if contains(interval, number)]
    else:
        other = COLUMNS.get(attribute.name, {}).get("other", ANY_OTHER)
        due = value if value in attribute.values else other
        inside = [i for i, state in enumerate(attribute.values) if state == due]
    (place,) = inside
    return place


def contains(interval: Interval, number: float) -> bool:
    after = interval.low <= number if interval.closed[0] else interval.low < number
    before = number <= interval.high if interval.closed[1] else number < interval.high
    return after and before


def counted(marginals: ReleasedMarginals, data: pd.DataFrame) -> list[list[int]]:
    """What each marginal counts in a table, by brute force."""
    atoms = {
        attribute.name: [atom(attribute, cell) for cell in data[attribute.name]]
        for attribute in marginals.attributes
    }
    counts = []
    for marginal in marginals.marginals:
        names = [marginals.attributes[i].name for i in marginal.clique]
        places = marginal.places.reshape(marginal.shape)
        many = [0] * len(marginal.counts)
        for row in zip(*(atoms[name] for name in names), strict=True):
            if places[row] >= 0:
                many[places[row]] += 1
        counts.append(many)
    return counts


@pytest.fixture(scope="module")
def exact(tmp_path_factory: pytest.TempPathFactory) -> Release:
    """So little noise that there is none."""
    return released(tmp_path_factory.mktemp("exact"), *QUERIES, epsilon=1e5, data=table(400))


def test_each_number_counts_the_rows_that_it_was_released_of(exact: Release) -> None:
    """The data engine and the marginals count alike."""
    marginals = read(exact)
    names = [str(query["name"]) for query in QUERIES]
    sizes = ["smokers", "mean", "spread", "line"]  # they say over how many rows they are
    used = sorted(marginal.query for marginal in marginals.marginals)
    assert used == sorted([*names[:-NOT_COUNTS], *sizes])
    for marginal, counts in zip(marginals.marginals, counted(marginals, table(400)), strict=True):
        assert np.round(marginal.counts, 6).tolist() == counts, marginal.query
    assert [query.query for query in marginals.unused] == ["mean", "spread", "line"]


def test_atoms_are_the_fewest_that_queries_tell_apart(exact: Release) -> None:
    shown = {a.name: list(map(str, a.intervals or a.values)) for a in read(exact).attributes}
    assert list(shown) == ["region", "day", "age", "ill", "smokes", "town", "weight", "colour"]
    assert shown["age"] == [
        "[0, 18)", "[18, 20]", "(20, 30)", "[30, 40)", "40", "(40, 65)", "[65, 90]",
    ]  # fmt: skip
    assert shown["weight"] == ["below 60", "[60, 80)", "80", "above 80"]
    assert shown["colour"] == ["blue", "navy", ANY_OTHER]
    fewer = {a.name: list(map(str, a.intervals)) for a in read(exact, ("not 40",)).attributes}
    assert fewer["age"] == ["[0, 18)", "[18, 30)", "[30, 40)", "40", "(40, 65)", "[65, 90]"]


def test_pairs_that_no_query_reads_together_are_listed(exact: Release) -> None:
    apart = read(exact).apart()
    assert ("ill", "smokes") not in apart
    assert ("ill", "weight") in apart
    assert ("smokes", "colour") in apart
    left = tuple(str(query["name"]) for query in QUERIES[1:])
    assert read(exact, left).apart() == []
    assert [a.name for a in read(exact, left).attributes] == ["ill", "smokes"]


def test_releases_of_one_table_are_read_together(exact: Release, tmp_path: Path) -> None:
    second = released(tmp_path, AGES | {"name": "more", "bins": [0, 50, 90]}, data=table(400))
    together = read([exact, second])
    assert [m.query for m in together.marginals] == [
        *(m.query for m in read(exact).marginals),
        "more",
    ]
    assert {m.release for m in together.marginals} == {exact.id, second.id}
    shown = next(list(map(str, a.intervals)) for a in together.attributes if a.name == "age")
    assert shown[-3:] == ["(40, 50)", "[50, 65)", "[65, 90]"]  # the atoms of both


def test_what_can_not_be_used_is_said(exact: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownNameError, match=r"ill, smoke.*Did you mean 'ill, smokes'"):
        read(exact, ("ill, smoke",))
    with pytest.raises(UnsupportedError, match="mean: a mean is not a number of rows"):
        read(exact, tuple(str(query["name"]) for query in QUERIES[:-NOT_COUNTS]))
    monkeypatch.setattr(module, "MOST_COMBINATIONS", 10)
    marginals = read(exact)
    large = {query.query: query.why for query in marginals.unused}
    assert large["coarse"] == "age x day x ill x region have 84 combinations, above 10"
    assert "ill, smokes" in {marginal.query for marginal in marginals.marginals}


@pytest.mark.parametrize("scale", [0.3, 2.0, 40.0])
def test_deviations_are_those_of_the_noise(scale: float) -> None:
    """Against sums over the law itself."""
    for law, weight in (
        (DiscreteLaplace, lambda k: math.exp(-abs(k) / scale)),
        (DiscreteGaussian, lambda k: math.exp(-(k**2) / (2.0 * scale**2))),
    ):
        weights = [weight(k) for k in range(-3000, 3001)]
        mean_square = sum(w * k**2 for w, k in zip(weights, range(-3000, 3001), strict=True))
        exact = math.sqrt(mean_square / sum(weights)) * 0.5
        name = "discrete-laplace" if law is DiscreteLaplace else "discrete-gaussian"
        result = NumberResult.model_validate(
            {
                "query": "q",
                "kind": "count",
                "value": 1.0,
                "unit": "",
                "noise": {"distribution": name, "scale": scale, "step": 0.5},
                "error": {"confidence": 0.95, "value": 1.0},
                **({"dp_epsilon": 1.0} if law is DiscreteLaplace else {"dp_rho": 1.0}),
            }
        )
        if law is DiscreteLaplace or scale >= 1.0:
            assert deviation(result) == pytest.approx(exact, rel=1e-6)
        assert deviation(result) >= exact * (1.0 - 1e-9)
