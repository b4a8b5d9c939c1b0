"""What specs of causal models say, and wrong ones."""

from __future__ import annotations

import contextlib
import copy
import importlib.util
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesdp.causal import CausalModel
from bayesdp.errors import BayesdpError, InputError
from tests.causal.models import random_model

SPEC: dict[str, Any] = {
    "model": "causal",
    "source": "us",
    "nodes": [
        {
            "name": "record",
            "role": "data",
            "states": ["low", "high"],
            "parents": ["person", "weather"],
            "table": [[[1.0, 0.0], [0.9, 0.1]], [[0.2, 0.8], [0.0, 1.0]]],
        },
        {"name": "copy", "role": "data", "parents": ["person"]},
        {"name": "weather", "role": "latent", "states": 2, "table": [0.25, 0.75]},
        {
            "name": "person",
            "role": "attribute",
            "states": ["low", "high"],
            "parents": ["weather"],
            "table": [[0.5, 0.5], [0.1, 0.9]],
        },
    ],
    "mechanism": {"count": "high", "epsilon": 1.0},
}


def changed(path: str, value: Any) -> dict[str, Any]:
    """The spec with one entry changed; `path` is dotted, and `None` takes the entry away."""
    spec = copy.deepcopy(SPEC)
    *way, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    place: Any = spec
    for part in way:
        place = place[part]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return spec


def test_a_model_round_trips() -> None:
    model = CausalModel(**SPEC)
    plain = json.loads(json.dumps(model.spec()))
    assert CausalModel(**plain) == model
    assert CausalModel.load(json.dumps(plain)) == model
    assert model.records == ("record", "copy")
    assert model.sizes == (2, 2)
    assert model.nodes[1].states == ("low", "high")
    assert model.nodes[1].table == ((1.0, 0.0), (0.0, 1.0))
    joint = np.zeros((2, 2))
    for w, pw in enumerate((0.25, 0.75)):
        for p in range(2):
            weight = pw * SPEC["nodes"][3]["table"][w][p]
            joint[:, p] += weight * np.array(SPEC["nodes"][0]["table"][p][w])
    population = model.population()
    assert population.array == pytest.approx(joint, abs=1e-15)
    assert population.roles == ("record", "copy")
    assert population.source == "us"
    assert model.marginal("copy", "record") == pytest.approx(joint.T, abs=1e-15)


def test_random_models_round_trip() -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        model = random_model(rng)
        assert CausalModel(**json.loads(json.dumps(model.spec()))) == model


def test_toml_and_json_files(tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text(json.dumps(SPEC), encoding="utf-8")
    assert CausalModel.load(str(tmp_path / "m.json")) == CausalModel(**SPEC)
    text = """
    [[nodes]]
    name = "x"
    role = "data"
    states = 2
    table = [0.5, 0.5]
    [mechanism]
    sum = [0, 3]
    epsilon = 2
    """
    (tmp_path / "m.toml").write_text(text, encoding="utf-8")
    model = CausalModel.load(str(tmp_path / "m.toml"))
    assert model == CausalModel(**tomllib.loads(text))
    assert model.see().epsilon == pytest.approx(2.0, abs=1e-12)
    for bad in ("{", "nowhere.toml", str(tmp_path)):
        with pytest.raises(InputError, match=r"JSON|readable"):
            CausalModel.load(bad)
    (tmp_path / "list.json").write_text("[1]", encoding="utf-8")
    with pytest.raises(InputError, match="a table such as"):
        CausalModel.load(str(tmp_path / "list.json"))


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("nodes.0.parents", ["person", "copy"], "between the attributes"),
        ("nodes.3.parents", ["copy"], "into an attribute.*causes nothing but the output"),
        ("nodes.2.parents", ["copy"], "into a latent cause"),
        ("nodes.3.parents", ["output"], "no edge out of the output"),
        ("nodes.2.parents", ["person"], "table"),
        ("nodes.2.name", "output", "the mechanism's output"),
        ("nodes.2.name", "person", "Node 2 has it too"),
        ("nodes.0.parents", ["persn", "weather"], "Did you mean 'person'"),
        ("nodes.0.parents", ["person", "person"], "once"),
        ("nodes.0.parents", ["record", "person"], "the name of another node"),
        ("nodes.0.role", "attibute", r"nodes\[0\].role"),
        ("nodes.0.paernts", ["person"], "Did you mean 'parents'"),
        ("nodes.0.states", ["low", "low"], "different names"),
        ("nodes.0.states", [], "different names"),
        ("nodes.2.states", 0, "from 1 to"),
        ("nodes.2.states", 10**9, "from 1 to"),
        ("nodes.2.table", [0.25, 0.7], "sum to 0.95"),
        ("nodes.2.table", [1.25, -0.25], r"table\[0\]"),
        ("nodes.2.table", [0.25, "x"], r"table\[1\]"),
        ("nodes.2.table", [0.25, True], r"table\[1\]"),
        ("nodes.2.table", [1.0], "2 probabilities"),
        ("nodes.3.table", [[0.5, 0.5]], "2 tables"),
        ("nodes.3.table", [[0.5, 0.5], [0.5, 0.4]], r"table\[1\]"),
        ("nodes.3.table", None, r"nodes\[3\].table.*missing"),
        ("nodes.3.role", None, r"nodes\[3\].role.*missing"),
        ("nodes.1.parents", [], r"nodes\[1\]"),
        ("nodes", [], "nodes"),
        ("nodes", "x", "nodes"),
        ("nodes.0", "x", r"nodes\[0\]"),
        ("sorce", "me", "Did you mean 'source'"),
        ("model", "markov", "model.model"),
        ("mechanism", {"count": "hihg", "epsilon": 1}, "Did you mean 'high'"),
    ],
)
def test_wrong_models(path: str, value: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        CausalModel(**changed(path, value))


def test_cycles_are_refused() -> None:
    nodes: list[dict[str, Any]] = [
        {"name": "a", "role": "attribute", "states": 1, "parents": ["b"], "table": [[1.0]]},
        {"name": "b", "role": "attribute", "states": 1, "parents": ["a"], "table": [[1.0]]},
        {"name": "x", "role": "data", "parents": ["a"]},
    ]
    with pytest.raises(InputError, match="without cycles"):
        CausalModel(nodes=nodes)
    with pytest.raises(InputError, match="at least one node with role"):
        CausalModel(nodes=[nodes[0] | {"parents": [], "table": [1.0]}])
    many = [{"name": f"x{k}", "role": "data", "states": 1, "table": [1.0]} for k in range(501)]
    with pytest.raises(InputError, match="500"):
        CausalModel(nodes=many)


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["name", "role", "states", "table", "count"]), inner)
    ),
    max_leaves=8,
)


@given(
    JUNK,
    st.sampled_from(
        ["nodes", "mechanism", "nodes.0.table", "nodes.1.parents", "nodes.3.states", "nodes.3"]
    ),
)
def test_no_input_crashes(junk: Any, path: str) -> None:
    with contextlib.suppress(BayesdpError):
        CausalModel(**changed(path, junk))


@pytest.mark.skipif(importlib.util.find_spec("pyagrum") is None, reason="pyAgrum isn't installed")
@pytest.mark.parametrize("check", ["reading", "doing", "rounding"])
def test_pyagrum(check: str) -> None:
    """In a process of its own: its import raises warnings, which are errors in tests."""
    root = Path(__file__).parents[2]
    path = os.pathsep.join([str(root / "src"), str(root)])
    done = subprocess.run(
        [sys.executable, "-m", "tests.causal.with_pyagrum", check],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": path},
    )
    assert done.returncode == 0, done.stderr
