"""Gaussian specs: each check is seen passing and failing, and what passes round-trips."""

from __future__ import annotations

import gzip
import json
import re
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
    with pytest.raises(InputError, match="is another one"):
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


REAL = "%%MatrixMarket matrix coordinate real symmetric\n"


def filed(folder: Path, text: str, name: str = "q.mtx") -> Gaussian:
    packed = gzip.compress(text.encode()) if name.endswith(".gz") else text.encode()
    (folder / name).write_bytes(packed)
    return Gaussian(precision=str(folder / name))


@pytest.mark.parametrize(
    "entry", ["2 1 0x1p-1", "2 1 0,5", "2 1 1_0", "2 1 .5 7", "2 1 .5d0", "2 1", "2 1 5e-"]
)
def test_no_tie_is_lost_because_a_number_is_written_otherwise(tmp_path: Path, entry: str) -> None:
    """SciPy drops what it doesn't understand: of 0x1p-1 and of 0,5 it takes 0."""
    text = f"{REAL}% a comment\n\n2 2 3\n1 1 2\n{entry}\n2 2 2\n"
    for name in ("q.mtx", "q.mtx.gz"):
        with pytest.raises(InputError, match=rf"{re.escape(entry)}'.* value .* in line 6 of"):
            filed(tmp_path, text, name)
    whole = "%%MatrixMarket matrix coordinate integer symmetric\n2 2 3\n1 1 2\n2 1 1.5\n2 2 2\n"
    with pytest.raises(InputError, match=r"2 1 1\.5.*in line 4 of"):
        filed(tmp_path, whole)
    with pytest.raises(InputError, match="one value of an entry in line 4 of"):
        filed(tmp_path, "%%MatrixMarket matrix array real symmetric\n2 2\n2\n0,5\n2\n")


@pytest.mark.parametrize(
    "text",
    [
        REAL + "2 2 3\n1 1 2\n2 1 .5\n2 2 2\n",
        REAL + "% words\r\n\r\n 2 2 3\r\n 1\t1  2.0 \r\n2 1 5e-1\r\n\r\n2 2 2.\r\n",
        REAL.replace("%%", "%").upper().replace("MATRIXMARKET", "MatrixMarket")
        + "2 2 3\n1 1 2\n2 1 .5\n2 2 2",
        "%%MatrixMarket matrix array real symmetric\n2 2\n2\n.5\n2\n",
        "%%MatrixMarket matrix array real general\n2 2\n2\n.5\n.5e0\n2\n",
    ],
)
def test_what_is_well_written_is_read(tmp_path: Path, text: str) -> None:
    for name in ("q.mtx", "q.mtx.gz"):
        precision = filed(tmp_path, text, name).precision
        assert precision.matrix.toarray().tolist() == [[2.0, 0.5], [0.5, 2.0]]


@pytest.mark.parametrize(
    "text",
    [
        REAL + "99999999999 99999999999 1\n1 1 1\n",
        REAL + "1 1 99999999999\n1 1 1\n",
        "%%MatrixMarket matrix array real general\n9999999 9999999\n1\n",
    ],
)
def test_a_file_that_announces_more_than_it_holds(tmp_path: Path, text: str) -> None:
    """Room for all of it would be more than the machine has."""
    with pytest.raises(InputError, match="as many entries as it announces"):
        filed(tmp_path, text)


def test_other_files_are_no_matrices(tmp_path: Path) -> None:
    for text in ("", "2 2 3\n1 1 2\n", REAL.replace("coordinate", "diagonal") + "2 2 2\n", REAL):
        with pytest.raises(InputError, match="a Matrix Market file"):
            filed(tmp_path, text)
    (tmp_path / "q.mtx.gz").write_text(REAL)
    with pytest.raises(InputError, match="a Matrix Market file"):
        Gaussian(precision=str(tmp_path / "q.mtx.gz"))
