"""The level of a study's noise under other populations than the declared one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bayesdp as bdp
from bayesdp.populations import parse
from bayesdp.release.checking.stress import Stress
from bayesdp.release.checking.stronger_dependence import stronger
from bayesdp.theorems import Question, best_bound
from tests.effort import runs

CHAIN = {"model": "markov", "transition": [[0.9, 0.1], [0.3, 0.7]], "length": 6}
WEAVE = {"model": "markov", "transition": [[0.2, 0.8], [0.7, 0.3]], "length": 6}
TABLE = [[1.2, 1.0], [1.0, 1.2]]
NODES = [
    {"name": "a", "law": [0.5, 0.5]},
    {"name": "b", "parent": "a", "transition": [[0.7, 0.3], [0.4, 0.6]]},
    {"name": "c", "parent": "b", "transition": [[0.6, 0.4], [0.3, 0.7]]},
]
NETWORK = [
    {"name": "a", "states": 2, "table": [0.5, 0.5]},
    {"name": "b", "states": 2, "parents": ["a"], "table": [[0.7, 0.3], [0.4, 0.6]]},
]
STRONGER_BY_CONSTRUCTION: dict[str, dict[str, Any]] = {
    "chain": CHAIN,
    "alternating chain": WEAVE,
    "intervals": {
        "model": "markov",
        "transition_lower": [[0.6, 0.38], [0.38, 0.6]],
        "transition_upper": [[0.62, 0.4], [0.4, 0.62]],
        "length": 6,
    },
    "clusters": {"model": "clusters", "size": 3},
    "independent": {"model": "independent"},
    "correlation": {"model": "gaussian", "size": 3, "max_correlation": 0.275},
    "covariance": {"model": "gaussian", "covariance": [[4.0, 1.0], [1.0, 2.0]]},
    "precision": {
        "model": "gaussian",
        "precision": [[1.0, -0.3, 0.0], [-0.3, 1.0, -0.3], [0.0, -0.3, 1.0]],
    },
    "series": {"model": "autoregressive", "coefficient": 0.4, "length": 5},
    "negative series": {"model": "autoregressive", "coefficient": -0.4, "length": 5},
    "graph": {"model": "graph", "grid": [2, 2], "table": TABLE},
    "factors": {
        "model": "graph",
        "records": 3,
        "states": 2,
        "factors": [
            {"between": [0], "table": [1.0, 1.0]},
            {"between": [0, 1], "table": TABLE},
            {"between": [1, 2], "table": TABLE},
        ],
    },
    "tree": {"model": "tree", "nodes": NODES},
    "network": {"model": "network", "nodes": NETWORK},
    "finite": {"model": "finite", "probabilities": [[0.3, 0.2], [0.2, 0.3]]},
    "family": {"model": "family", "members": [CHAIN, {**CHAIN, "length": 2}]},
}
GAUSSIAN_NOISE = {"delta": 1e-6, "noise": "gaussian"}
NUMBERS = {"correlation", "covariance", "precision", "series", "negative series"}


def study(
    folder: Path,
    population: Any,
    *,
    stress: Any = (),
    n: int = 6,
    numbers: bool = False,
    table: Any = None,
    **budget: Any,
) -> bdp.Study:
    """Without a table, unless one is given: a stress test can't read what isn't there."""
    columns = {
        "group": {"role": "cluster"},
        "series": {"role": "series"},
        "t": {"role": "order", "step": 1},
        "x": {"bounds": [0, 10]},
        "s": {"states": [0, 1]},
    }
    covered = "x" if numbers else "s"
    query = (
        {"name": "q", "kind": "sum", "column": "x"}
        if numbers
        else {"name": "q", "kind": "count", "where": "s == 1"}
    )
    return bdp.Study(
        table,
        dataset="stressed",
        n=n,
        columns=columns,
        population={**population, "covers": [covered]},
        budget={"epsilon": 1.0} | budget,
        queries=[query],
        stress=stress,
        ledger=str(folder / "ledger.db"),
    )


@pytest.mark.parametrize(
    ("name", "delta"),
    [
        *((name, {}) for name in STRONGER_BY_CONSTRUCTION),
        *((name, GAUSSIAN_NOISE) for name in ("clusters", "independent", *sorted(NUMBERS))),
    ],
)
def test_no_stronger_dependence_has_a_lower_level(
    name: str, delta: dict[str, Any], tmp_path: Path
) -> None:
    n = {"network": 2, "graph": 4, "factors": 3, "tree": 3, "precision": 3}.get(name, 6)
    made = study(tmp_path, STRONGER_BY_CONSTRUCTION[name], n=n, numbers=name in NUMBERS, **delta)
    rows = list(made.stress())
    declared = rows[0]
    assert (declared.name, declared.within) == ("declared", True)
    assert declared.level == made.check().plan.level
    assert len(rows) > 2
    levels = [row.level for row in rows if row.level is not None]
    assert all(level >= declared.level * (1 - 1e-9) for level in levels), made.stress()
    for row in rows[1:]:
        assert (row.level is None) == (row.theorem is None) == (row.within is None)
        assert row.level is not None or row.reason
        assert row.within is None or row.within == (row.level <= 1.0)
    strongest = [row for row in rows if row.level is not None][1:]
    assert any(row.level > declared.level * 1.001 for row in strongest if row.level is not None)
    assert not (tmp_path / "ledger.db").exists()


@pytest.mark.prove
def test_random_chains_moved_away_from_chance_leak_more() -> None:
    """Two states, any adversary, also where neighbours alternate; brute in number, not in route."""
    rng = np.random.default_rng(20)
    for _ in range(runs(400)):
        up, down = rng.uniform(0.02, 0.98, 2)
        length = int(rng.integers(2, 9))
        chain = bdp.MarkovChain([[1 - up, up], [down, 1 - down]], length=length)
        cost = bdp.Cost(any=float(10 ** rng.uniform(-2, 0.7)))
        levels = [
            best_bound(Question(changed), cost).epsilon
            for changed in (chain, *(row.population for row in stronger(chain)[:2]))
            if changed is not None
        ]
        assert len(levels) == 3
        assert levels[0] <= levels[1] * (1 + 1e-9) <= levels[2] * (1 + 2e-9)


def test_the_changes_by_hand() -> None:
    """A tenth of the way: 1 - .9 -> .09, and so on."""
    moved, _, following, anything = stronger(parse(CHAIN))
    assert moved.population is not None
    assert np.allclose(moved.population.transition, [[0.91, 0.09], [0.27, 0.73]])
    woven = stronger(parse(WEAVE))[0].population
    assert woven is not None
    assert np.allclose(woven.transition, [[0.18, 0.82], [0.73, 0.27]])
    assert following.population is not None
    # From (older, last): a tenth for the older, nine tenths of the row of the last.
    assert np.allclose(
        following.population.transition,
        [[[0.91, 0.09], [0.37, 0.63]], [[0.81, 0.19], [0.27, 0.73]]],
    )
    assert anything.population == bdp.Clusters(6)
    (raised, *_) = stronger(bdp.Gaussian([[4.0, 1.0], [1.0, 4.0]]))
    assert raised.population is not None  # a tenth of the way from 1/4 to 1
    assert np.allclose(raised.population.covariance, [[4.0, 1.3], [1.3, 4.0]])
    (squared, *_) = stronger(parse(STRONGER_BY_CONSTRUCTION["graph"]))
    assert squared.population is not None
    assert np.allclose(squared.population.table, [[1.44, 1.0], [1.0, 1.44]])
    assert [row.population for row in stronger(bdp.Independent(), 9)] == [
        bdp.Clusters(2),
        bdp.Unknown(9),
    ]
    assert stronger(bdp.Unknown(9)) == ()


def test_what_has_no_stronger_population_says_why(tmp_path: Path) -> None:
    rows = {
        row.name: row
        for row in study(tmp_path, STRONGER_BY_CONSTRUCTION["series"], numbers=True).stress()
    }
    following = rows["next order"]
    assert following.level is following.within is following.theorem is None
    assert "no theorem about autoregressive series of order 2" in following.reason
    assert "next order: level not known" in str(following)
    diagonal = {"model": "gaussian", "covariance": [[1.0, 0.0], [0.0, 1.0]]}
    reasons = [row.reason for row in study(tmp_path, diagonal, numbers=True).stress()]
    assert sum("there are none to raise" in reason for reason in reasons) == 2


OWN = [
    {
        "name": "moody",
        "population": {"model": "markov", "length": 8, "transition": [[0.99, 0.01], [0.01, 0.99]]},
    },
    {"name": "households", "population": bdp.Clusters(9)},
]


def test_own_populations_are_rows_and_change_nothing_that_is_released(tmp_path: Path) -> None:
    import pandas as pd

    table = pd.DataFrame(
        {
            "group": list("aabbcc"),
            "series": [1] * 6,
            "t": range(6),
            "x": [1.0] * 6,
            "s": [0, 0, 1, 1, 1, 0],
        }
    )
    folders = [tmp_path / "plain", tmp_path / "stressed"]
    bodies, ledgers = [], []
    for folder, own in zip(folders, ([], OWN), strict=True):
        folder.mkdir()
        made = study(folder, CHAIN, stress=own, table=table, spend=0.5)
        check = made.check()
        released = made.release()
        body = dict(released.certificate.body)
        drawn = (str(body.pop("release")), str(body.pop("time")), str(body.pop("results")))
        drawn += (body.pop("ledger")["head"],)
        body["assumptions"] = [
            words for words in body["assumptions"] if not any(part in words for part in drawn)
        ]
        bodies.append((check.plan.spends, check.plan.level, str(check), body))
        kept = made.ledger().release(released.id)
        ledgers.append({key: kept[key] for key in ("dataset", "request", "spends", "status")})
        assert bdp.verify(released.certificate)
    assert bodies[0] == bodies[1]
    assert ledgers[0] == ledgers[1]
    rows = list(made.stress())
    assert [(row.name, row.is_own) for row in rows[-2:]] == [("moody", True), ("households", True)]
    assert rows[0].level == bodies[0][1]
    assert rows[-1].level == pytest.approx(9 * check.plan.dp_epsilon)
    # The same populations, declared: the same level of the same cost.
    alone = bdp.leakage(parse(OWN[0]["population"]), check.plan.dp_epsilon).best.epsilon
    assert rows[-2].level == pytest.approx(alone, rel=1e-9)
    # An identical study is one with the same release, whatever its stress test asks.
    with pytest.raises(bdp.Refusal, match="identical"):
        study(folders[1], CHAIN, table=table, spend=0.5).release()


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("x", r"stress\[0\] is 'x': expected a table"),
        ({"population": {"model": "clusters", "size": 9}}, r"stress\[0\]\.name"),
        ({"name": "", "population": {"model": "clusters", "size": 9}}, r"stress\[0\]\.name"),
        ({"name": "a\u202eb", "population": bdp.Clusters(9)}, r"stress\[0\]\.name"),
        ({"name": "a"}, r"stress\[0\]\.population is None"),
        ({"name": "a", "model": "clusters", "size": 9}, r"stress\[0\]\.model: .*below it"),
        ({"name": "a", "population": {"model": "cluster"}}, r"stress\[0\]\.population\.model is"),
        (
            {"name": "a", "population": {"model": "clusters", "size": 0}},
            r"stress\[0\]\.population\.size is 0",
        ),
        (
            {"name": "a", "population": {**CHAIN, "transition": [[0.9, 0.2], [0.3, 0.7]]}},
            r"stress\[0\]\.population\.transition\[0\]",
        ),
        (
            {"name": "a", "population": {"model": "clusters", "size": 9, "covers": ["x"]}},
            r"stress\[0\]\.population\.covers is \['x'\]",
        ),
        (
            {"name": "a", "population": {**CHAIN, "transition": [[1 / 3] * 3] * 3}},
            r"stress\[0\]\.population\.covers is \['s'\]: expected columns whose states",
        ),
        (
            {"name": "a", "population": {**CHAIN, "length": 5}},
            r"stress\[0\]\.population is 'groups of 5': expected groups of at least 6",
        ),
        (
            {"name": "a", "population": {"model": "unknown", "records": 5}},
            r"stress\[0\]\.population is '5 records': expected at least data\.n = 6",
        ),
        (
            {"name": "a", "population": {"model": "gaussian", "size": 6, "max_correlation": 0.1}},
            r"stress\[0\]\.population\.covers",
        ),
    ],
)
def test_what_is_not_a_stress_population_is_refused(entry: Any, said: str, tmp_path: Path) -> None:
    with pytest.raises(bdp.InputError, match=said):
        study(tmp_path, CHAIN, stress=[entry])


def test_names_are_used_once_and_the_notion_dp_has_no_stress(tmp_path: Path) -> None:
    with pytest.raises(bdp.InputError, match=r"stress\[1\]\.name"):
        study(tmp_path, CHAIN, stress=[OWN[1], OWN[1]])
    with pytest.raises(bdp.InputError, match="stress: expected nothing in a study of the notion"):
        study(tmp_path, CHAIN, stress=OWN, notion="dp")
    with pytest.raises(bdp.InputError, match=r"budget\.notion is 'dp'.*stress test"):
        study(tmp_path, CHAIN, notion="dp").stress()
    with pytest.raises(bdp.InputError, match="stress"):
        study(tmp_path, CHAIN, stress={"name": "a"})


def test_a_level_that_the_kernel_does_not_prove_is_not_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = study(tmp_path, CHAIN, stress=[OWN[0]])
    plan = made.check().plan
    from bayesdp.release.checking import stress as room

    def refuse(*_: Any) -> Any:
        raise bdp.Refusal("No level can be certified: for the test.")

    monkeypatch.setattr(room, "proved_report", refuse)
    answer: Stress = room.stress(plan)
    assert answer.rows[0].level == plan.level
    for row in answer.rows[1:]:
        assert (row.level, row.within, row.theorem) == (None, None, None)
        assert "for the test" in row.reason
    assert "not known" in answer._repr_html_()


def test_a_notebook_shows_a_row_for_each_population(tmp_path: Path) -> None:
    stressed = study(
        tmp_path, CHAIN, stress=[{"name": "<b>", "population": bdp.Clusters(9)}]
    ).stress()
    page = stressed._repr_html_()
    assert page.count("<tr>") == len(stressed) + 1 == 7
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
