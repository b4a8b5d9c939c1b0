"""Gaussian specs: each check is seen passing and failing, and what passes round-trips."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.io import mmwrite

from bayesdp.errors import InputError, UnsupportedError
from bayesdp.populations import Gaussian, load, parse

PAIR = [[1.0, -0.3], [-0.3, 1.0]]
VECTOR: dict[str, Any] = {
    "model": "gaussian",
    "covariance": (np.eye(4) + 0.2).tolist(),
    "size": 2,
    "covers": ["weight", "height"],
    "bounds": [[40, 120], [120, 220]],
}


def spec(**changes: Any) -> dict[str, Any]:
    return {"model": "gaussian", **changes}


@pytest.mark.parametrize(
    "given",
    [
        spec(precision=PAIR),
        spec(precision=[[2]]),
        spec(covariance=PAIR, roles=["father", "mother"]),
        VECTOR,
        {**VECTOR, "roles": ["a", "b"]},
    ],
)
def test_round_trip(given):
    population = parse(given)
    again = parse(json.loads(json.dumps(population.spec())))
    assert again == population
    assert again.spec() == population.spec()
    assert again.group_size == population.group_size


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (spec(precision=[[1, 0.5], [0.4, 1]]), "symmetric"),
        (spec(precision=[[1, 2], [2, 1]]), "positive definite"),
        (spec(precision=[[1, 0.5], [0.5, 0]]), "above 0"),
        (spec(precision=[[1, 0.5]]), "as many rows as columns"),
        (spec(precision=[[1, 0.5], [0.5]]), "nested array"),
        (spec(precision=[]), "nested array"),
        (spec(precision=3), "nested array"),
        (spec(precision=[[float("inf")]]), "finite"),
        (spec(precision="nowhere.mtx"), "beside the study"),
        (spec(precision={"path": "x.mtx"}), "sha256"),
        (spec(precision=PAIR, covariance=PAIR), "one of covariance, precision"),
        (spec(precision=PAIR, size=2, max_correlation=0.1), "one of covariance, precision"),
        (spec(precision=PAIR, size=2), "one of covariance, precision"),
        (spec(precision=PAIR, roles=["a", "b"]), "beside a covariance"),
        (spec(covariance=PAIR, roles=["a"]), "2 different names"),
        (spec(covariance=PAIR, roles=["a", "a"]), "2 different names"),
        (spec(covariance=PAIR, bounds=[[0, 1]]), "several columns"),
        ({**VECTOR, "size": 4}, "several columns"),
        ({**VECTOR, "covers": ["height"]}, "several columns"),
        ({**VECTOR, "covers": ["height", "height"]}, "each once"),
        ({**VECTOR, "columns": ["height", "age"]}, "in its order"),
        ({**VECTOR, "bounds": [[40, 120]]}, "one for each of weight, height"),
        ({**VECTOR, "bounds": [[40, 40], [120, 220]]}, "lower < upper"),
    ],
)
def test_what_can_not_be_meant(given, words):
    with pytest.raises(InputError) as failure:
        parse(given)
    assert words in str(failure.value)
    assert failure.value.key.startswith("population")


def test_readings_drop_covers_and_keep_the_order_of_columns():
    plain = {key: value for key, value in parse(VECTOR).spec().items() if key != "covers"}
    again = parse(plain)
    assert isinstance(again, Gaussian)
    assert again.columns == ("weight", "height")


def test_a_matrix_market_file(tmp_path: Path, monkeypatch):
    mmwrite(tmp_path / "q.mtx", sp.csr_array(np.array(PAIR)), symmetry="symmetric")
    (tmp_path / "pop.json").write_text('{"model": "gaussian", "precision": "q.mtx"}')
    population = load(str(tmp_path / "pop.json"))  # found beside the file that names it
    inline = Gaussian(precision=PAIR)
    assert isinstance(population, Gaussian)
    assert population.spec()["precision"]["file"] == "q.mtx"
    assert population.group_size == 2
    levels = [p.leakage(1.0, kind="lipschitz").best.epsilon for p in (population, inline)]
    assert levels[0] == levels[1] == pytest.approx(1.3)
    monkeypatch.chdir(tmp_path)
    assert parse(population.spec()) == population
    (tmp_path / "q.mtx").write_text((tmp_path / "q.mtx").read_text().replace("-3", "-2"))
    with pytest.raises(InputError, match="changed since"):
        parse(population.spec())
    (tmp_path / "q.mtx").write_text("no matrix")
    with pytest.raises(InputError, match="Matrix Market"):
        parse({"model": "gaussian", "precision": "q.mtx"})


def test_matrices_in_memory():
    small = Gaussian(precision=sp.csr_array(np.array(PAIR)))
    assert small.spec() == Gaussian(precision=np.array(PAIR)).spec()
    large = Gaussian(precision=sp.eye_array(3000))
    assert large.leakage(1.0, kind="lipschitz").best.epsilon == pytest.approx(1.0)
    with pytest.raises(UnsupportedError, match=r"mmwrite"):
        large.spec()
    with pytest.raises(InputError, match="at most 2000 rows in an array"):
        parse(spec(precision=np.eye(2001)))
    with pytest.raises(InputError, match="real numbers"):
        parse(spec(precision=sp.csr_array(np.array(PAIR) * 1j)))


def test_large_and_not_walk_summable_is_refused():
    n = 3000
    side = np.full(n - 1, 0.6)
    ring = sp.diags_array([side, np.ones(n), side], offsets=[-1, 0, 1])
    with pytest.raises(InputError, match="walk-summable"):
        parse(spec(precision=ring))


def test_a_matrix_market_file_with_an_entry_twice_is_refused(tmp_path):
    """SciPy adds the two up: a correlation of twice the size, or none."""
    lines = ["%%MatrixMarket matrix coordinate real symmetric", "2 2 4"]
    lines += ["1 1 1.0", "2 1 -0.2", "2 1 -0.2", "2 2 1.0"]
    (tmp_path / "q.mtx").write_text("\n".join(lines) + "\n")
    with pytest.raises(InputError, match="row 1 and column 2 stands there more than once"):
        Gaussian(precision=str(tmp_path / "q.mtx"))
