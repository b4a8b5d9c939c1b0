"""Finite laws and Bayesian networks: what specs say, BIF files, and wrong ones."""

from __future__ import annotations

import hashlib
import importlib.util
import itertools
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesdp.errors import BayesdpError, InputError, UnsupportedError
from bayesdp.populations import Finite, MarkovChain, Network, Tree, load, parse
from bayesdp.populations.bif import read_bif
from bayesdp.populations.joint import NoJointError, joint_of, parts_of, sizes_of
from bayesdp.release.reading.study_files import parse_study
from bayesdp.release.spec.study import StudySpec
from tests.oracles import chains

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
PAIR = [[0.4, 0.1], [0.2, 0.3]]


# ------------------------------------------------------ finite


def test_a_finite_law_round_trips():
    population = Finite(
        probabilities=np.array(PAIR) * (1 + 5e-10), roles=("index case", "contact"), source="us"
    )
    assert population.group_size == 2
    assert population.sizes == (2, 2)
    assert sum(map(sum, population.probabilities)) == pytest.approx(1.0, abs=1e-15)
    again = parse(json.loads(json.dumps(population.spec())))
    assert again == population
    assert again.spec() == population.spec()
    assert "index case, contact" in population.describe()
    assert len(population.assumptions()) + 1 == len(Finite(probabilities=PAIR).assumptions())
    assert Finite(probabilities=[[[0.5, 0.5]]]).sizes == (1, 1, 2)


@pytest.mark.parametrize(
    ("spec", "key"),
    [
        ({"probabilities": [[0.4, 0.1], [0.2]]}, r"probabilities\[1\]"),
        ({"probabilities": [[0.4, 0.1], [0.2, 0.2]]}, "sum to 0.9"),
        ({"probabilities": [[0.4, -0.1], [0.4, 0.3]]}, r"probabilities\[0\]\[1\]"),
        ({"probabilities": [[0.4, "x"], [0.4, 0.3]]}, r"probabilities\[0\]\[1\]"),
        ({"probabilities": [[0.4, True], [0.4, 0.3]]}, r"probabilities\[0\]\[1\]"),
        ({"probabilities": [[0.5, [0.5]]]}, r"probabilities\[0\]\[1\]"),
        ({"probabilities": [[]]}, "at least one value"),
        ({"probabilities": 1.0}, "one axis for each record"),
        ({"probabilities": PAIR, "roles": ["a"]}, "2 different names"),
        ({"probabilities": PAIR, "roles": ["a", "a"]}, "2 different names"),
        ({"probabilities": PAIR, "size": 2}, "population.size"),
        ({}, "population.probabilities"),
    ],
)
def test_wrong_finite_laws(spec, key):
    with pytest.raises(InputError, match=key):
        parse({"model": "finite", **spec})


# ------------------------------------------------------ networks

SPRINKLER = [
    {
        "name": "wet",
        "states": 2,
        "parents": ["rain", "sprinkler"],
        "table": [[[1.0, 0.0], [0.1, 0.9]], [[0.2, 0.8], [0.01, 0.99]]],
    },
    {"name": "rain", "states": ["no", "yes"], "table": [0.8, 0.2]},
    {"name": "sprinkler", "states": 2, "parents": ["rain"], "table": [[0.6, 0.4], [0.99, 0.01]]},
]


def multiplied(nodes) -> np.ndarray:
    """The law of a network, cell by cell."""
    place = {node["name"]: index for index, node in enumerate(nodes)}
    sizes = [n["states"] if isinstance(n["states"], int) else len(n["states"]) for n in nodes]
    law = np.zeros(sizes)
    for cell in itertools.product(*map(range, sizes)):
        weight = 1.0
        for index, node in enumerate(nodes):
            row = node["table"]
            for parent in node.get("parents", ()):
                row = row[cell[place[parent]]]
            weight *= row[cell[index]]
        law[cell] = weight
    return law


def test_a_network_round_trips_and_multiplies_out():
    network = Network(nodes=SPRINKLER)
    assert network.sizes == (2, 2, 2)
    assert network.group_size == network.table_size == 3
    assert np.allclose(joint_of(network, 8), multiplied(SPRINKLER), atol=1e-15)
    again = parse(json.loads(json.dumps(network.spec())))
    assert again.spec() == network.spec()
    assert network.as_tree is None
    assert "Bayesian network with 3 arrows" in network.describe()


def node(**changes):
    return [{**SPRINKLER[0], **changes}, *SPRINKLER[1:]]


@pytest.mark.parametrize(
    ("nodes", "key"),
    [
        (node(parents=["rain", "sprinklr"]), r"parents\[1\].*sprinkler"),
        (node(parents=["rain", "rain"]), r"parents\[1\]"),
        (node(parents=["wet", "rain"]), r"parents\[0\]"),
        (node(name="rain"), "a name of its own"),
        (node(states=3), r"table\[0\]\[0\]"),
        (node(states=["dry", "dry"]), "different names"),
        (node(states=0), "at least 1"),
        (node(table=[[1.0, 0.0], [0.1, 0.9]]), r"table\[0\]\[0\]"),
        (node(table=[[[1.0, 0.1], [0.1, 0.9]], [[0.2, 0.8], [0.01, 0.99]]]), "sum to 1"),
        (node(tabel=[]), r"nodes\[0\]\.tabel"),
        ([], "nodes"),
        (
            [
                {"name": "a", "states": 2, "parents": ["b"], "table": PAIR},
                {"name": "b", "states": 2, "parents": ["a"], "table": PAIR},
            ],
            "table",
        ),
        (
            [
                {"name": n, "states": 2, "parents": [p], "table": [[0.5, 0.5], [0.5, 0.5]]}
                for n, p in ("ab", "ba")
            ],
            "without cycles",
        ),
    ],
)
def test_wrong_networks(nodes, key):
    with pytest.raises(InputError, match=key):
        parse({"model": "network", "nodes": nodes})


def test_both_or_neither_form():
    for spec in ({}, {"bif": "asia.bif", "nodes": SPRINKLER}, {"bif": {"fil": "asia.bif"}}):
        with pytest.raises(InputError):
            parse({"model": "network", **spec})
    with pytest.raises(InputError, match="bif"):
        parse({"model": "network", "bif": "nowhere.bif"})


# ------------------------------------------------------ BIF files


def test_the_published_network():
    asia = load(str(EXAMPLES / "asia.toml"))
    assert [node.name for node in asia.nodes] == [
        "asia",
        "tub",
        "smoke",
        "lung",
        "bronc",
        "either",
        "xray",
        "dysp",
    ]
    law = joint_of(asia, 256)
    # Marginals as published: 1.04 % tuberculosis, 5.5 % cancer, 45 % bronchitis, 6.48 % either,
    # 11.03 % positive x-ray, 43.6 % dyspnoea.
    for name, chance in zip(
        ("tub", "lung", "bronc", "either", "xray", "dysp"),
        (0.0104, 0.055, 0.45, 0.064828, 0.11029, 0.4359706),
        strict=True,
    ):
        axis = [node.name for node in asia.nodes].index(name)
        others = tuple(j for j in range(8) if j != axis)
        assert law.sum(axis=others)[0] == pytest.approx(chance, abs=1e-6), name
    # the spec needs no file any more
    assert "bif" not in asia.spec()
    assert parse(asia.spec()).spec() == asia.spec()


def test_other_examples():
    pedigree = load(str(EXAMPLES / "pedigree.toml"))
    law = joint_of(pedigree, 243)
    # Hardy-Weinberg proportions are kept from generation to generation.
    child = law.sum(axis=(0, 1, 2, 3))
    assert child == pytest.approx([0.9604, 0.0392, 0.0004], abs=1e-12)
    contacts = load(str(EXAMPLES / "contacts.toml"))
    assert joint_of(contacts, 256).shape == (2,) * 8


# ------------------------------------------------------ files of nodes

TWO = [
    {"name": "mother", "states": 2, "table": [0.8, 0.2]},
    {"name": "child", "states": 2, "parents": ["mother"], "table": [[0.9, 0.1], [0.4, 0.6]]},
]
LINE = [
    {"name": "mother", "law": [0.8, 0.2]},
    {"name": "child", "parent": "mother", "transition": [[0.9, 0.1], [0.4, 0.6]]},
]


@pytest.mark.parametrize(("model", "nodes"), [("network", TWO), ("tree", LINE)])
def test_nodes_are_read_from_a_file(tmp_path, monkeypatch, model, nodes):
    """The spec holds the nodes, and the source says which file they were in."""
    text = json.dumps(nodes).encode()
    (tmp_path / "family.json").write_bytes(text)
    digest = hashlib.sha256(text).hexdigest()
    monkeypatch.chdir(tmp_path)
    spelt = parse({"model": model, "nodes": nodes})
    for where in ("family.json", {"file": "family.json", "sha256": digest}):
        read = parse({"model": model, "nodes": where})
        assert read.nodes == spelt.nodes
        assert read.source == f"nodes of family.json, SHA-256 {digest}"
        assert parse(json.loads(json.dumps(read.spec()))) == read
    vouched = type(spelt)(tmp_path / "family.json", source="the register")
    assert vouched.source == f"the register; nodes of family.json, SHA-256 {digest}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"[{}, {}", r"population\.nodes is '.*n\.json': expected a JSON file of nodes"),
        (b"\xff", r"n\.json.*utf-8"),
        (b'[{"name": "a", "name": "b"}]', r"n\.json.*'name' stands twice"),
        (json.dumps({"nodes": TWO}).encode(), r"n\.json.*It has no keys beside them"),
        (b"[]", r"population\.nodes is \[\].*in the file .*n\.json"),
        (json.dumps([TWO[0], TWO[1] | {"tabel": 1}]).encode(), r"nodes\[1\]\.tabel.*n\.json"),
        (json.dumps([TWO[1]]).encode(), r"nodes\[0\]\.parents\[0\].*in line 1 of .*n\.json"),
        (
            json.dumps([TWO[0] | {"table": [1, 1]}]).encode(),
            r"nodes\[0\]\.table.*sum to 2.*n\.json",
        ),
        (
            b'\n[{"name": "mother",\n "states": 2, "table": [0.8,\n\n 0.2]}, \n {}, {}]',
            r"nodes\[1\]\.name.*begins in line 6 of",
        ),
        (
            b"[%s\r\n,[]]" % json.dumps(TWO[0]).encode(),
            r"nodes\[1\] is \[\].*begins in line 2 of .*n\.json",
        ),
    ],
)
def test_a_wrong_file_of_nodes_is_named(tmp_path, text, message):
    path = tmp_path / "n.json"
    path.write_bytes(text)
    for read in (Network, lambda nodes: parse({"model": "network", "nodes": nodes})):
        with pytest.raises(InputError, match=message):
            read(str(path))


def test_another_file_of_nodes_is_refused(tmp_path):
    path = tmp_path / "n.json"
    path.write_text(json.dumps(TWO))
    for where, message in [
        (str(tmp_path / "none.json"), r"population\.nodes is .*none\.json': expected a file"),
        ({"file": str(path), "sha256": "0" * 64}, r"population\.nodes\.sha256.*is another one"),
        ({"fil": str(path)}, r"population\.nodes\.fil: .*Did you mean 'file'"),
        ({"file": 3}, r"population\.nodes\.file is 3"),
    ]:
        with pytest.raises(InputError, match=message):
            Network(nodes=where)
    with pytest.raises(InputError, match=r"population\.source"):
        Network(nodes=str(path), source=3)


def bif(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "n.bif"
    path.write_text(text)
    return path


HEAD = """network "n" { property author me; }
variable a { type discrete [ 2 ] { yes, no }; property position = (1, 2) ; }
variable b { type discrete[3] { "x" y z }; }
"""


def test_what_the_reader_understands(tmp_path):
    text = (
        HEAD
        + """/* a comment
    of two lines */
    probability (a) { table 0.25 0.75; } // commas may be missing
    probability ( b | a ) { default 0.2, 0.3, 0.5; (no) 1e-1, .4, 5.0E-1; }
    """
    )
    first, second = read_bif(bif(tmp_path, text))
    assert first == {"name": "a", "states": ["yes", "no"], "parents": [], "table": [0.25, 0.75]}
    assert second["states"] == ["x", "y", "z"]
    assert second["table"] == [[0.2, 0.3, 0.5], [0.1, 0.4, 0.5]]


GOOD = "probability (a) { table 0.25, 0.75; }\n"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "at least one variable"),
        ("hello", "line 1.*network, variable or probability"),
        (HEAD, "a probability for every variable"),
        (HEAD + GOOD + "probability (b | a) { table 1, 0, 0, 1, 0, 0; }", "line 5.*row for each"),
        (HEAD + GOOD + "probability (b | a) { (yes) 1, 0, 0; }", "every combination"),
        (HEAD + GOOD + "probability (b | a) { (yes) 1, 0; }", "3 probabilities"),
        (HEAD + GOOD + "probability (b | a) { (perhaps) 1, 0, 0; }", "a state of a: yes, no"),
        (HEAD + GOOD + "probability (b | a) { (yes, no) 1, 0, 0; }", "1 values"),
        (HEAD + GOOD + "probability (b | a) { (yes) 1, 0, 0; (yes) 1, 0, 0; }", "once"),
        (HEAD + GOOD + "probability (b | c) { }", "declared above"),
        (HEAD + GOOD + "probability (b | b) { }", "different parents"),
        (HEAD + GOOD + "probability (b | a", "the end of the file"),
        (HEAD + GOOD + GOOD, "one probability for each variable"),
        (HEAD + "probability (a) { table 0.25, x; }", "a probability"),
        (HEAD + "variable a { type discrete [1] { u }; }", "declared twice"),
        ("variable a { type discrete [2] { u }; }", "1, as there are names"),
        ("variable a { type discrete [2] { u, u }; }", "different names"),
        *(
            (HEAD + f"probability (a) {{ table {number}, 0.75; }}", f"{number}'.*a probability")
            for number in ("0x1", "0.2_5", "２5e-2", "nan", "25d-2", "1j")
        ),
        *(
            (f"variable a {{ type discrete [{count}] {{ u, v }}; }}", "expected 2, as there are")
            for count in ("²", "٢", "0x2", "2.0", "9" * 5000)
        ),
        ("variable a { type continuous; }", "discrete"),
        ("network n { property", "expected }"),
        ('network n " {}', "a word or one of"),
    ],
)
def test_wrong_files(tmp_path, text, why):
    with pytest.raises(InputError, match=why):
        read_bif(bif(tmp_path, text))


@given(st.text(alphabet='networkvariabletypediscreteprobability {}()[]|,;"/*\n0.12', max_size=80))
def test_no_file_breaks_the_reader(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / "fuzz.bif"
    path.write_text(HEAD + text)
    with pytest.raises(BayesdpError):
        read_bif(path)


def test_rows_that_do_not_sum_to_one_are_found(tmp_path):
    path = bif(
        tmp_path, "variable a { type discrete [2] { u, v }; } probability (a) { table 1 1; }"
    )
    with pytest.raises(InputError, match=r"n\.bif, line 1\).*sum to 1"):
        parse({"model": "network", "bif": str(path)})


def test_another_reader(tmp_path):
    path = bif(tmp_path, HEAD)
    with pytest.raises(InputError, match='"own" or "pyagrum"'):
        read_bif(path, reader="ours")
    if importlib.util.find_spec("pyagrum") is None:
        with pytest.raises(UnsupportedError, match="networks"):
            read_bif(path, reader="pyagrum")


@pytest.mark.skipif(importlib.util.find_spec("pyagrum") is None, reason="pyAgrum isn't installed")
def test_pyagrum_reads_the_same():
    """In a process of its own: its import raises warnings, which are errors in tests."""
    program = (
        "import sys, json; from pathlib import Path; from bayesdp.populations.bif import read_bif;"
        "print(json.dumps(read_bif(Path(sys.argv[1]), reader='pyagrum')))"
    )
    path = EXAMPLES / "asia.bif"
    source = Path(__file__).parents[2] / "src"
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(source)},
    )
    ours, theirs = read_bif(path), json.loads(done.stdout.splitlines()[-1])
    law = multiplied([their | {"table": np.asarray(their["table"]).tolist()} for their in theirs])
    assert [their["name"] for their in theirs] == [our["name"] for our in ours]
    assert np.allclose(law, multiplied(ours), atol=1e-6)  # pyAgrum keeps single precision


# ------------------------------------------------------ joint laws


def test_joint_laws_against_the_oracle():
    rng = np.random.default_rng(1)
    kernel = rng.dirichlet((1, 1, 1), size=3)
    chain = MarkovChain(transition=kernel, length=4)
    assert np.allclose(joint_of(chain, 81), chains.joint(kernel, "stationary", 4), atol=1e-14)
    table = rng.dirichlet((1, 1), size=(2, 2, 2))
    for length in (2, 3, 5):
        chain = MarkovChain(transition=table, order=3, length=length)
        truth = chains.joint(table, "stationary", length)
        assert np.allclose(joint_of(chain, 256), truth, atol=1e-14)
    start = rng.dirichlet((1, 1, 1, 1)).reshape(2, 2)
    chain = MarkovChain(transition=table[0], order=2, initial=start, length=4)
    assert np.allclose(joint_of(chain, 256), chains.joint(table[0], start, 4), atol=1e-14)


def test_parts():
    nodes = [
        {"name": "a", "law": [0.5, 0.5]},
        {"name": "x", "law": [0.1, 0.9]},
        {"name": "b", "parent": "a", "transition": PAIR_ROWS},
        {"name": "y", "parent": "x", "transition": PAIR_ROWS},
        {"name": "z", "law": [0.1, 0.9]},
    ]
    parts = parts_of(Tree(nodes=nodes), 4)
    assert [records for records, _ in parts] == [(0, 2), (1, 3), (4,)]
    whole = joint_of(Tree(nodes=nodes), 32)
    for records, law in parts:
        others = tuple(j for j in range(5) if j not in records)
        assert np.allclose(whole.sum(axis=others), law, atol=1e-15)
    with pytest.raises(NoJointError, match="16 cells, of at most 8"):
        joint_of(MarkovChain(transition=PAIR_ROWS, length=4), 8)
    with pytest.raises(NoJointError, match="1000000 records"):
        sizes_of(MarkovChain(transition=PAIR_ROWS, length=10**6))


PAIR_ROWS = [[0.8, 0.2], [0.3, 0.7]]


# ------------------------------------------------------ in studies


def study(population: dict, columns: dict) -> StudySpec:
    return parse_study(
        {
            "data": {"source": "t.csv", "dataset": "t", "n": 8, "columns": columns},
            "population": population,
            "budget": {"epsilon": 1.0},
            "query": [{"name": "sick", "kind": "count", "where": "sick == 1"}],
        }
    )


SICK = {"sick": {"states": [0, 1]}, "home": {"role": "cluster"}}


def test_studies_cover_states_and_name_members():
    named = {"model": "finite", "probabilities": PAIR, "covers": ["sick"], "roles": ["a", "b"]}
    who = {"who": {"role": "member", "states": ["a", "b"]}}
    assert study(named, SICK | who).population is not None
    with pytest.raises(InputError, match='role "member"'):
        study(named, SICK)
    with pytest.raises(InputError, match="states are those of the population"):
        study(named, SICK | who | {"sick": {"states": [0, 1, 2]}})
    network = {"model": "network", "nodes": SPRINKLER, "covers": ["sick"]}
    with pytest.raises(InputError, match="states are those of the population"):
        study(network, {"sick": {"bounds": [0, 1]}})


def test_equal_tables_of_parents_of_other_sizes_are_told_apart():
    table = [[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]]
    nodes = [
        {"name": "a", "states": 2, "table": [0.5, 0.5]},
        {"name": "z", "states": 3, "table": [0.2, 0.3, 0.5]},
        {"name": "b", "states": 3, "parents": ["a"], "table": table},
        {"name": "c", "states": 2, "parents": ["z"], "table": table},
    ]
    with pytest.raises(InputError) as caught:
        Network(nodes=nodes)
    assert caught.value.key == "population.nodes[3].table"
