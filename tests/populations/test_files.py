"""JSON and TOML documents: one meaning, or none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayesdp.errors import InputError
from bayesdp.populations import load, parse
from bayesdp.populations.files import MOST_DIGITS, read_json, read_toml

TWICE = '{"model": "clusters", "size": 9, "size": 2}'


@pytest.mark.parametrize("text", ['{"a": 1, "a": 1}', '{"b": [{"a": 1, "c": 2, "a": 2}]}'])
def test_a_key_that_stands_twice_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="'a' stands twice"):
        read_json(text)


def test_the_same_key_in_two_objects_is_fine() -> None:
    assert read_json('[{"a": 1}, {"a": {"a": 2}}]') == [{"a": 1}, {"a": {"a": 2}}]


def test_whole_numbers_beyond_doubles_are_refused() -> None:
    most = "9" * MOST_DIGITS
    assert read_json(f"[{most}]") == [int(most)]
    assert read_toml(f"a = [{{ b = {most} }}]")["a"][0]["b"] == int(most)
    for sign in ("", "-"):
        with pytest.raises(ValueError, match="digits"):
            read_json(f'{{"a": [{sign}{most}9]}}')
        with pytest.raises(ValueError, match="digits"):
            read_toml(f"a = [{{ b = {sign}{most}9 }}]")


def test_populations_are_read_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'size' stands twice"):
        load(TWICE)
    file = tmp_path / "p.json"
    file.write_text(TWICE, encoding="utf-8")
    with pytest.raises(InputError, match="'size' stands twice"):
        load(str(file))
    with pytest.raises(InputError, match="digits"):
        load(f'{{"model": "clusters", "size": {"1" * 400}}}')


CHAIN = '{"model": "markov", "transition": [[0.9, 0.1], [0.2, 0.8]], "length": 5}'
NODES = '[{"name": "a", "states": 2, "table": [0.5, 0.5]}]'
BIF = "variable a { type discrete [2] { u, v }; }\nprobability (a) { table 0.5, 0.5; }\n"
MATRIX = "%%MatrixMarket matrix array real general\n1 1\n2.0\n"


@pytest.mark.parametrize(
    ("name", "text", "spec"),
    [
        ("chain.json", CHAIN, "chain.json"),
        ("chain.toml", 'model = "clusters"\nsize = 3\n', "chain.toml"),
        ("nodes.json", NODES, {"model": "network", "nodes": "nodes.json"}),
        ("net.bif", BIF, {"model": "network", "bif": "net.bif"}),
        ("q.mtx", MATRIX, {"model": "gaussian", "precision": "q.mtx"}),
    ],
)
def test_a_byte_order_mark_is_no_part_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str, spec: Any
) -> None:
    """Editors and spreadsheets put one before what they save."""
    monkeypatch.chdir(tmp_path)
    read = []
    for encoding in ("utf-8", "utf-8-sig"):
        Path(name).write_text(text, encoding=encoding)
        population = load(spec) if isinstance(spec, str) else parse(spec)
        read.append({key: value for key, value in population.spec().items() if key != "source"})
        read[-1].pop("precision", None)  # which names the digest of the file
    assert read[0] == read[1]


def test_other_encodings_are_refused(tmp_path: Path) -> None:
    (tmp_path / "chain.json").write_text(CHAIN, encoding="utf-16")
    with pytest.raises(InputError, match=r"a readable file .*a text in UTF-8"):
        load(str(tmp_path / "chain.json"))


@pytest.mark.parametrize("wrong", [True, False, "1", "1_0"])
@pytest.mark.parametrize(
    ("spec", "key"),
    [
        ({"model": "graph", "records": 2, "edges": [[0, 1], [1, "?"]]}, r"edges\[1\]\[1\]"),
        ({"model": "graph", "grid": [1, "?"], "table": [[3, 1], [1, 3]]}, r"grid\[1\]"),
        ({"model": "graph", "grid": [1, 2], "table": [[3, "?"], [1, 3]]}, r"table\[0\]\[1\]"),
        (
            {
                "model": "graph",
                "records": 1,
                "states": 2,
                "factors": [{"between": [0], "table": "?"}],
            },
            r"factors\[0\]\.table",
        ),
        (
            {
                "model": "graph",
                "records": 1,
                "states": 2,
                "factors": [{"between": [0], "table": [1, "?"]}],
            },
            r"factors\[0\]\.table\[1\]",
        ),
        ({"model": "gaussian", "covariance": [["?", 0.1], [0.1, 1]]}, r"covariance\[0\]\[0\]"),
        ({"model": "gaussian", "precision": [[1, 0.1], [0.1, "?"]]}, r"precision\[1\]\[1\]"),
        ({"model": "tree", "nodes": [{"name": "a", "law": [0, "?"]}]}, r"nodes\[0\]\.law\[1\]"),
        (
            {
                "model": "tree",
                "nodes": [
                    {"name": "a", "law": [0.5, 0.5]},
                    {"name": "b", "parent": "a", "transition": [["?", 0], [0, 1]]},
                ],
            },
            r"nodes\[1\]\.transition\[0\]\[0\]",
        ),
        (
            {"model": "network", "nodes": [{"name": "a", "states": 2, "table": ["?", 0]}]},
            r"nodes\[0\]\.table\[0\]",
        ),
        (
            {"model": "markov", "transition": [["?", 0], [0, 1]], "length": 2},
            r"transition\[0\]\[0\]",
        ),
        ({"model": "finite", "probabilities": ["?", 0]}, "probabilities"),
    ],
)
def test_truth_values_and_texts_are_no_numbers(spec: dict[str, Any], key: str, wrong: Any) -> None:
    """NumPy and pydantic read them as 1, and `1_0` as 10."""
    with pytest.raises(InputError, match=rf"^population\.{key}.* is {wrong!r}"):
        parse(json.loads(json.dumps(spec).replace('"?"', json.dumps(wrong))))


@pytest.mark.parametrize(
    "covariance",
    [
        np.array([[True, False], [False, True]]),
        [[np.bool_(True), 0.0], [0.0, 1.0]],
        np.array([["1.0", "0"], ["0", "1"]]),
        [np.array([True, False]), np.array([0.0, 1.0])],
    ],
)
def test_truth_values_and_texts_in_arrays_are_no_numbers(covariance: Any) -> None:
    with pytest.raises(InputError, match=r"covariance\[0\]\[0\].* a truth value"):
        parse({"model": "gaussian", "covariance": covariance})
