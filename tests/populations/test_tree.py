"""Trees as data: checks, round trips, the same law as a graph."""

from __future__ import annotations

import json

import numpy as np
import pytest

from bayesdp.errors import InputError
from bayesdp.populations import Tree, load, parse
from tests.oracles import chains

ROOT = {"name": "a", "law": [0.3, 0.7]}
CHILD = {"name": "b", "parent": "a", "transition": [[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]]}
GRANDCHILD = {"name": "c", "parent": "b", "transition": [[0.1, 0.9], [0.5, 0.5], [1.0, 0.0]]}


def test_nodes_in_any_order():
    tree = Tree(nodes=[GRANDCHILD, CHILD, ROOT])
    assert tree.parents == (1, 2, -1)
    assert tree.order == (2, 1, 0)
    assert tree.sizes == (2, 3, 2)
    assert (tree.records, tree.group_size, tree.common_states) == (3, 3, None)
    assert load(json.dumps(tree.spec())) == tree


def test_a_forest_has_the_size_of_its_largest_tree():
    tree = Tree(nodes=[ROOT, CHILD, {"name": "z", "law": [0.5, 0.5]}])
    assert tree.group_size == 2
    assert "2 mutually independent trees" in tree.describe()


def test_the_graph_of_a_tree_has_its_law():
    nodes = [ROOT, CHILD, GRANDCHILD]
    graph = Tree(nodes=nodes).factor_graph
    factors = [
        {"between": group.members[f].tolist(), "table": group.tables[f]}
        for group in graph.groups
        for f in range(group.count)
    ]
    law = chains.factor_graph(3, graph.states.tolist(), factors)
    np.testing.assert_allclose(law, chains.tree(nodes), atol=1e-12)


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([], "population.nodes"),
        ([ROOT | {"lawn": 1}], r"nodes\[0\]\.lawn.*Did you mean 'law'"),
        ([{"name": "a"}], r"nodes\[0\] is 'a': expected a law \(a root\), or a parent"),
        ([{"name": "a", "law": []}], r"nodes\[0\]\.law"),
        ([{"name": "a", "law": [0.5, 0.6]}], r"nodes\[0\]\.law.*sum to 1\.1"),
        ([{"name": "a", "transition": [[1.0]]}], "A transition needs a parent"),
        ([ROOT, CHILD | {"parent": "aa"}], r"nodes\[1\]\.parent is 'aa'.*Did you mean 'a'"),
        ([ROOT, CHILD | {"law": [1.0]}], "a transition and no law"),
        ([ROOT, {"name": "b", "parent": "a"}], "a transition and no law"),
        ([ROOT, CHILD | {"transition": [[0.5, 0.5]]}], "2 rows, one for each value of 'a'"),
        ([ROOT, CHILD | {"transition": [[1.0, 0.0], [1.0]]}], r"transition\[1\].*2 probabilities"),
        ([ROOT, CHILD | {"transition": [[1.0, 0.0], [0.9, 0.0]]}], r"transition\[1\].*sum to 0\.9"),
        ([ROOT, ROOT], r"nodes\[1\]\.name is 'a': expected a name of its own"),
        (
            [CHILD, {"name": "a", "parent": "b", "transition": [[1.0, 0.0]] * 3}],
            "ancestor of its own",
        ),
        ([ROOT, GRANDCHILD | {"parent": "c", "transition": [[1.0, 0.0]] * 2}], "ancestor"),
    ],
)
def test_wrong_trees_are_refused_with_the_key(nodes, message):
    with pytest.raises(InputError, match=message):
        parse({"model": "tree", "nodes": nodes})
