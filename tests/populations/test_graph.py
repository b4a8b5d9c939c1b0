"""Graphs as data: forms, checks, files, round trips, components."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest

from bayesdp.errors import InputError, UnsupportedError
from bayesdp.kernel.reading import stated_population
from bayesdp.populations import Graph, load, parse
from bayesdp.populations.edges import Edges

ISING = [[2.0, 1.0], [1.0, 2.0]]
EDGES = [[0, 1], [1, 2], [4, 5]]


def written(path, form: str) -> str:
    import pyarrow as pa
    from pyarrow import parquet

    pairs = np.array(EDGES)
    if form == "parquet":
        parquet.write_table(pa.table({"from": pairs[:, 0], "to": pairs[:, 1]}), path)
    else:
        header = "from,to\n" if form == "header" else ""
        path.write_text(header + "".join(f"{a},{b}\n" for a, b in EDGES))
    return str(path)


@pytest.mark.parametrize("form", ["parquet", "header", "plain"])
def test_edges_are_read_from_files(tmp_path, form):
    name = written(tmp_path / "edges.dat", form)
    graph = Graph(records=6, edges=name, table=ISING)
    assert graph.edges.pairs.tolist() == EDGES
    assert graph.edges.sha256 == hashlib.sha256((tmp_path / "edges.dat").read_bytes()).hexdigest()
    spec = graph.spec()
    assert spec["edges"] == {"file": name, "sha256": graph.edges.sha256}
    assert parse(json.loads(json.dumps(spec))) == graph
    assert graph.group_size == 3


def test_a_changed_file_is_another_population(tmp_path):
    name = written(tmp_path / "edges.csv", "plain")
    graph = Graph(records=6, edges=name, table=ISING)
    spec = graph.spec()
    moved = written(tmp_path / "moved.csv", "plain")
    assert Graph(records=6, edges=moved, table=ISING).edges.sha256 == graph.edges.sha256
    (tmp_path / "edges.csv").write_text("0,1\n")
    with pytest.raises(InputError, match=r"population.edges.sha256.*is another one"):
        parse(spec)


def test_specs_round_trip():
    for graph in (
        Graph(grid=(3, 4), table=ISING),
        Graph(records=6, edges=np.array(EDGES), table=ISING),
        Graph(records=2, states=(2, 3), factors=[{"between": [1, 0], "table": np.ones((3, 2))}]),
        Graph(records=1, states=2, factors=[]),
    ):
        again = load(json.dumps(graph.spec()))
        assert again == graph
        assert again.spec() == graph.spec()
        assert again.factor_graph.records == graph.records


def test_many_edges_in_memory_belong_in_a_file(monkeypatch):
    monkeypatch.setattr("bayesdp.populations.edges.MOST_INLINE_EDGES", 2)
    graph = Graph(records=6, edges=EDGES, table=ISING)
    assert graph.leakage(0.1).best.epsilon > 0.1
    with pytest.raises(UnsupportedError, match="Parquet"):
        graph.spec()


def test_a_grid_is_its_pairs_of_neighbours():
    table = [[3.0, 1.0], [2.0, 5.0]]  # not symmetric: the first axis is the left or upper record
    grid = Graph(grid=(2, 2), table=table)
    pairs = [[0, 1], [2, 3], [0, 2], [1, 3]]
    assert grid.factor_graph.groups[0].members.tolist() == pairs
    assert (grid.records, grid.group_size, grid.common_states) == (4, 4, 2)
    factors = [{"between": pair, "table": table} for pair in pairs]
    listed = Graph(records=4, states=2, factors=factors)
    assert listed.leakage(0.5).best.epsilon == grid.leakage(0.5).best.epsilon


def test_group_size_is_the_largest_component():
    factors = [
        {"between": [0, 1, 2], "table": np.ones((2, 2, 2))},
        {"between": [3], "table": [1, 2]},
    ]
    assert Graph(records=5, states=2, factors=factors).group_size == 3
    assert Graph(records=5, states=2, factors=[]).group_size == 1


GOOD = {"model": "graph", "records": 3, "states": 2}
PAIR = {"between": [0, 1], "table": ISING}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({}, "exactly one of factors"),
        ({"factors": [PAIR], "grid": [1, 3], "table": ISING}, "exactly one of factors"),
        ({"factors": {}}, r"factors is \{\}"),
        ({"factors": [1]}, r"factors\[0\] is 1"),
        ({"factors": [{"betwen": [0, 1]}]}, r"factors\[0\]\.betwen.*Did you mean 'between'"),
        ({"factors": [{"between": [0, 1]}]}, r"factors\[0\]\.table.*missing"),
        ({"factors": [{"table": ISING}]}, r"factors\[0\]\.between.*missing"),
        ({"factors": [PAIR | {"between": [0, 3]}]}, r"between\[1\] is 3: expected a record from 0"),
        ({"factors": [PAIR | {"between": [-1, 0]}]}, r"between\[0\] is -1"),
        ({"factors": [PAIR | {"between": [1, 1]}]}, "distinct records"),
        ({"factors": [PAIR | {"between": [True, 1]}]}, "a list of record numbers"),
        ({"factors": [PAIR | {"between": []}]}, "a list of record numbers"),
        ({"factors": [PAIR | {"between": [0, 1, 2]}]}, r"of shape 2 x 2 x 2.*has shape 2 x 2"),
        ({"factors": [PAIR | {"table": [[1, 2], [3]]}]}, "rows differ in length"),
        ({"factors": [PAIR | {"table": [[1, 2], [3, -4]]}]}, r"table\[1\]\[1\] is -4"),
        ({"factors": [PAIR | {"table": [[1, 2], [3, float("inf")]]}]}, r"table\[1\]\[1\] is inf"),
        (
            {"factors": [PAIR | {"table": [["1", "2"], ["3", "4"]]}]},
            r"table\[0\]\[0\] is '1': expected a number",
        ),
        ({"factors": [PAIR | {"table": [[0, 0], [0, 0]]}]}, "at least one positive number"),
        ({"factors": [PAIR], "table": ISING}, "a table in each factor"),
        ({"factors": [PAIR], "states": None}, r"population\.states.*missing"),
        ({"factors": [PAIR], "states": [2, 2]}, r"3 of them.*There are 2"),
        ({"factors": [PAIR], "states": [2, 2, 0]}, r"states\[2\] is 0"),
        ({"factors": [PAIR], "states": 0}, r"states is 0"),
        ({"factors": [PAIR], "records": 0}, r"records is 0.*missing"),
        ({"grid": [2, 2], "table": ISING}, r"records is 3: expected 4"),
        ({"grid": [0, 3], "table": ISING}, r"grid is \[0, 3\]"),
        ({"grid": [1, 3]}, r"population\.table.*missing"),
        ({"grid": [1, 3], "table": [[1, 2, 3], [1, 2, 3]]}, r"square table.*2 x 3"),
        ({"grid": [1, 3], "table": ISING, "states": 3}, r"states is 3: expected 2"),
        ({"edges": "nowhere.csv", "table": ISING}, r"nowhere\.csv.*a file"),
        ({"edges": [[0, 1], [2, 3]], "table": ISING}, r"edges\[1\] is \[2, 3\]"),
        ({"edges": [[0, 0]], "table": ISING}, "two different records"),
        ({"edges": [[0, 1, 2]], "table": ISING}, "pairs of record numbers"),
        ({"edges": [[0.5, 1]], "table": ISING}, "pairs of record numbers"),
        ({"edges": {"file": 3}, "table": ISING}, r"edges\.file is 3"),
        ({"edges": {"path": "a.csv"}, "table": ISING}, r"edges\.path"),
        ({"factor": [PAIR]}, r"population\.factor.*Did you mean 'factors'"),
    ],
)
def test_wrong_graphs_are_refused_with_the_key(change, message):
    spec = {key: value for key, value in (GOOD | change).items() if value is not None}
    with pytest.raises(InputError, match=message):
        parse(spec)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "two integer columns.*It has no pair"),
        ("from,to\n", "two integer columns.*It has no pair"),
    ],
)
def test_wrong_files_of_edges_are_refused(tmp_path, content, message):
    (tmp_path / "edges.csv").write_text(content)
    with pytest.raises(InputError, match=message):
        parse(GOOD | {"edges": str(tmp_path / "edges.csv"), "table": ISING})


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf0,1\n1,2\n4,5\n",
        b'"0","1"\n1,2\n4,5\n',
        b" 0 , 1\r\n1,2\r\n\r\n4,5",
        b'\xef\xbb\xbf"from", "to"\n0,1\n1,2\n4,5\n',
        b"0,1\n +1, 2\n4,5\n",
        b"\xef\xbb\xbf0,1\n +1, 2\n4,5\n",
        b'\xef\xbb\xbf"0","1"\n1,2\n4,5\n',
        b"0,1\r1,2\r4,5",
        b"from,to\r0,1\r1,2\r4,5\r",
        b"index,box\r\n0,1\r\n1,2\r\n4,5\r\n",
        b"# from,to_2\n0,1\n1,2\n4,5\n",
        b"\xef\xbb\xbffrom;to\r\n0;1\r\n1;2\r\n4;5\r\n",
        b"0;1\n1; 2\n 4 ;5\n",
        b'"0";"1"\n1;2\n4;5\n',
        b"0\t1\n1\t2\n4\t5\n",
        b'"from, person"\tto\n0\t1\n1\t2\n4\t5\n',
    ],
)
def test_no_first_pair_is_lost_as_a_header(tmp_path, content):
    (tmp_path / "edges.csv").write_bytes(content)
    graph = Graph(records=6, edges=str(tmp_path / "edges.csv"), table=ISING)
    assert graph.edges.pairs.tolist() == EDGES


def test_the_level_of_a_triangle_counts_all_three_pairs(tmp_path):
    """1.150, by the linear programs over its joint law; .992 with two of the three pairs."""
    neighbours = b"record;neighbour\r\n0;1\r\n0;2\r\n1;0\r\n1;2\r\n2;0\r\n2;1\r\n"
    for content, both_ways in ((b"\xef\xbb\xbf0,1\n1,2\n0,2\n", False), (neighbours, True)):
        (tmp_path / "edges.csv").write_bytes(content)
        edges = {"file": str(tmp_path / "edges.csv"), "both_ways": both_ways}
        triangle = Graph(records=3, edges=edges, table=[[3, 1], [1, 3]])
        assert triangle.leakage(0.5).best.epsilon == pytest.approx(1.14995639, abs=1e-7)
        assert parse(triangle.spec()) == triangle
        assert stated_population(triangle.spec()).edges.both_ways == both_ways


NEIGHBOURS = "0,1\n1,0\n1,2\n2,1\n"


@pytest.mark.parametrize(
    ("content", "change", "message"),
    [
        (NEIGHBOURS + "0,1\n", {}, r"is \[0, 1\].*once in each order.*lines 1, 2 and 5 of"),
        ("0,1\n1,0\n1,0\n", {}, r"is \[0, 1\].*once in each order.*lines 1, 2 and 3 of"),
        ("0,1\n1,0\n\n1,2\n1,2\n", {}, r"is \[1, 2\].*in each order.*\(lines 4 and 5 of"),
        ("0,1\n1,0\n2,1\n2,1\n", {}, r"is \[1, 2\].*in each order.*\(lines 3 and 4 of"),
        ("0,1\n2,1\n1,0\n", {}, r"is \[1, 2\].*\(line 2 of .*in both orders, or each pair once"),
        (NEIGHBOURS + "2,2\n", {}, r"two different records \(line 5 of"),
        (NEIGHBOURS + "7,2\n2,7\n", {}, r"is \[2, 7\].*from 0 to 5 \(lines 5 and 6 of"),
        (NEIGHBOURS, {"table": [[2, 1], [3, 2]]}, "a symmetric table.*which record comes first"),
        (NEIGHBOURS, {"both_ways": 1}, r"edges\.both_ways is 1: expected true or false"),
        (NEIGHBOURS, {"both_way": True}, r"edges\.both_way: .*Did you mean 'both_ways'"),
        (NEIGHBOURS, {"both_ways": False}, r"\(lines 1 and 2 of .*both_ways = true \}"),
    ],
)
def test_pairs_that_are_not_listed_both_ways(tmp_path, content, change, message):
    (tmp_path / "edges.csv").write_text(content)
    edges = {"file": str(tmp_path / "edges.csv"), "both_ways": True} | change
    table = edges.pop("table", ISING)
    with pytest.raises(InputError, match=message):
        Graph(records=6, edges=edges, table=table)


def test_rows_of_parquet_files_are_named(tmp_path):
    import pyarrow as pa
    from pyarrow import parquet

    name = str(tmp_path / "edges.parquet")
    parquet.write_table(pa.table({"a": [0, 4, 1], "b": [1, 5, 0]}), name)
    with pytest.raises(InputError, match=r"is \[1, 0\].*\(rows 1 and 3 of"):
        Graph(records=6, edges=name, table=ISING)
    with pytest.raises(InputError, match=r"is \[4, 5\].*from 0 to 4 \(row 2 of"):
        Graph(records=5, edges=name, table=ISING)


@pytest.mark.parametrize("pairs", [[[0, 1], [1, 2], [1, 0]], [[0, 1], [0, 1]]])
def test_a_pair_that_is_listed_twice_is_refused(tmp_path, pairs):
    (tmp_path / "edges.csv").write_text("".join(f"{a},{b}\n" for a, b in pairs))
    for edges in (pairs, str(tmp_path / "edges.csv")):
        with pytest.raises(InputError, match=r"not listed before, in either order.*List it once"):
            Graph(records=6, edges=edges, table=ISING)


LIKE_NUMBERS = [
    *("1e0,2e0", "0x1,0x2", "nan,inf", "NaN,-Infinity", "NA,NA", "null,None", "1d0,2d0", "1_0,2_0"),
    *("0b1,0b10", "1j,2j", "1.0f,2.0f", ".5e1,+1e1", "-0x1,2", "1e0,to", "from,0x2", "1st,2nd"),
    *('"1e0","2e0"', "一,二", "0X1,0X2", "1L,2L"),
]
"""First lines that would be lost as a header."""


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("0,1\nfrom,to\n", 2),
        ("0,1,0\n1,2,0\n", 1),
        ("a,1\n1,2\n", 1),
        ("0,1\n\n1,x\n", 3),
        ("0,1\n1,\n", 2),
        ("a,b\n0,1\n,2\n", 3),
        ("0,1\n1,0x2\n", 2),
        ("0,1\n1,2.5\n", 2),
        *((f"{first}\n1,2\n4,5\n", 1) for first in LIKE_NUMBERS),
        ("from,to\r0,1\r1,x\r", 3),
        ("0,1\r\n1,2\r\n4,x\r\n", 3),
        ("0;1\n1,2\n", 2),
        ("a,b\n0;1\n", 2),
        ("a;b\n0,1;2\n", 2),
        ("0 1\n1 2\n", 1),
        ("0,1\n1,2,4\n", 2),
        (f"{'a' * 200_000},b\n0,1\n", 1),
        ("a\0,b\n0,x\n", 2),
    ],
)
def test_errors_name_the_line(tmp_path, content, line):
    (tmp_path / "edges.csv").write_text(content, encoding="utf-8", newline="")
    with pytest.raises(InputError, match=f"in line {line} of"):
        Graph(records=6, edges=str(tmp_path / "edges.csv"), table=ISING)


def test_edges_are_equal_by_content():
    item = Graph(records=6, edges=EDGES, table=ISING).edges
    assert isinstance(item, Edges)
    assert item == Graph(records=7, edges=EDGES, table=ISING).edges
    assert item != Graph(records=6, edges=EDGES[:2], table=ISING).edges


def test_words():
    graph = Graph(grid=(3, 4), table=ISING, source="a textbook")
    assert "grid of 3 x 4" in graph.describe()
    assert any("different rows are different records" in text for text in graph.assumptions())


def test_names_of_columns_that_are_no_texts(tmp_path):
    """In a damaged Parquet file."""
    import pyarrow as pa
    from pyarrow import parquet

    path = tmp_path / "edges.parquet"
    parquet.write_table(pa.table({"first": [0, 1], "second": [1, 2]}), path)
    path.write_bytes(path.read_bytes().replace(b"first", b"\xff" * 5))
    with pytest.raises(InputError, match="edges"):
        Graph(records=3, edges=str(path), table=ISING)
