"""Studies of records that form a graph or a tree: priced, released, verified, refused."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from bayesdp.errors import BayesdpError, InputError
from bayesdp.release import Study
from bayesdp.verification import verify

PAIR = [[2.0, 1.0], [1.0, 2.0]]
TWO_PAIRS = {
    "model": "graph",
    "records": 4,
    "states": 2,
    "factors": [{"between": [0, 1], "table": PAIR}, {"between": [2, 3], "table": PAIR}],
    "covers": ["ill"],
}
TREE = {
    "model": "tree",
    "nodes": [
        {"name": "source", "law": [0.9, 0.1]},
        {"name": "left", "parent": "source", "transition": [[0.8, 0.2], [0.3, 0.7]]},
        {"name": "right", "parent": "source", "transition": [[0.8, 0.2], [0.3, 0.7]]},
    ],
    "covers": ["ill"],
}


def study(population: dict, rows: int, folder=None, adversary: str = "any", **column) -> Study:
    table = pd.DataFrame({"ill": [i % 2 for i in range(rows)]})
    return Study(
        table,
        dataset="contacts",
        n=rows,
        columns={"ill": column or {"states": [0, 1]}},
        population=population,
        budget={"epsilon": 1.0, "adversary": adversary},
        queries=[{"name": "ill", "kind": "count", "where": "ill == 1"}],
        ledger=None if folder is None else str(folder / "ledger.db"),
    )


@pytest.mark.parametrize(
    ("population", "adversary", "theorem"),
    [
        (TWO_PAIRS, "any", "finite-law"),
        (TREE, "any", "finite-law"),
        (TREE, "uninformed", "tree-recursion"),
    ],
)
def test_released_and_verified(tmp_path, population, adversary, theorem):
    rows = population.get("records", 3)  # of two components: the table holds both
    release = study(population, rows, tmp_path, adversary).release()
    assert release.certificate.derivation.premises[0].rule == theorem
    assert 1 / rows < release.dp_epsilon < 1.0
    said = release.certificate.body["assumptions"]
    assert any("different rows are different records" in text for text in said)
    assert verify(release.certificate).verdict == "VALID ASSUMING"


def test_two_records_cost_at_most_the_closed_form_of_one_pair(tmp_path):
    # one neighbour: L <= eps + ln f(e^eps; 4); 2 of the 4 records may be absent
    release = study(TWO_PAIRS, 2, tmp_path).release()
    eps = release.dp_epsilon
    root = math.exp(eps / 2)
    assert 1.0 <= eps + 2 * math.log((1 + 2 * root) / (root + 2)) <= 1.02


def test_more_rows_than_records():
    with pytest.raises(BayesdpError, match=r"at least data\.n = 5"):
        study(TWO_PAIRS, 5).check()


@pytest.mark.parametrize(
    ("population", "column"),
    [
        (TWO_PAIRS, {"bounds": [0, 1]}),
        (TREE, {"bounds": [0, 1]}),
        (TWO_PAIRS, {"states": [0, 1, 2]}),
        (TWO_PAIRS | {"factors": [], "states": [2, 2, 2, 3]}, {"states": [0, 1]}),
    ],
)
def test_a_graph_covers_its_states_and_not_numbers_behind_them(population, column):
    with pytest.raises(InputError, match="columns whose states are those of the population"):
        study(population, 3, **column)


def test_a_family_covers_states_too():
    chain = {"model": "markov", "transition": [[0.9, 0.1], [0.1, 0.9]], "length": 3}
    family = {"model": "family", "members": [chain], "covers": ["ill"]}
    with pytest.raises(InputError, match="columns whose states are those of the population"):
        study(family, 3, bounds=[0, 1])
