"""Numbers at the edge: a level that holds and is certified, or a refusal that names the key.

Budgets from 1e-12 to 1e3, probabilities of 1e-300, states that are never left, covariances that are
nearly singular, scales of 1e12 and 1e-6. Levels are held against an attack in exact fractions.
"""

from __future__ import annotations

import json
import math
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bayesdp.cli import app
from tests.effort import in_full
from tests.oracles import exact_attack

BUDGETS = (1e-12, 1e-6, 0.5, 30.0, 1e3) if in_full() else (1e-12, 0.5, 1e3)
TINY, NEAR = 1e-300, 1 - 2**-53
CHAINS: dict[str, tuple[list[list[float]], list[float]]] = {
    "rare": ([[1.0, TINY], [0.5, 0.5]], [0.5, 0.5]),
    "rare both ways": ([[1.0, TINY], [TINY, 1.0]], [0.5, 0.5]),
    "rare at first": ([[0.9, 0.1], [0.3, 0.7]], [1.0, TINY]),
    "denormal": ([[1.0, 5e-324], [0.4, 0.6]], [0.5, 0.5]),
    "absorbing": ([[1.0, 0.0], [0.3, 0.7]], [0.5, 0.5]),
    "absorbed": ([[1.0, 0.0], [0.3, 0.7]], [1.0, 0.0]),
    "two absorbing": ([[1.0, 0.0], [0.0, 1.0]], [0.5, 0.5]),
    "alternating": ([[0.0, 1.0], [1.0, 0.0]], [0.5, 0.5]),
    "never left": ([[NEAR, 1 - NEAR], [1 - NEAR, NEAR]], [0.5, 0.5]),
    "almost independent": ([[0.5 + 1e-15, 0.5 - 1e-15], [0.5, 0.5]], [0.5, 0.5]),
    "three states": (
        [[1 - 1e-12, 1e-12, 0.0], [0.0, 1.0, 0.0], [1e-300, 0.5, 0.5]],
        [0.2, 0.3, 0.5],
    ),
}
JOINTS: dict[str, Any] = {
    "a rare pair": [[0.5, TINY], [TINY, 0.5]],
    "impossible pairs": [[0.5, 0.0], [0.0, 0.5]],
    "a rare table": [[[0.5, 0.0], [TINY, 0.25]], [[0.0, TINY], [0.0, 0.25]]],
    "one rare record": [[1.0, 0.0], [TINY, 0.0]],
    "independent but for a bit": [[0.25 + 2**-54, 0.25], [0.25, 0.25 - 2**-54]],
}
GRAPHS: dict[str, list[list[float]]] = {
    "weights of 1e-300": [[1.0, TINY], [TINY, 1.0]],
    "weights of 1e150": [[1e150, 1.0], [1.0, 1e150]],
    "weights of 1e-12": [[1e-12, 2e-12], [2e-12, 1e-12]],
    "a zero": [[1.0, 0.0], [1.0, 1.0]],
    "nearly even": [[1.0, 1.0 + 2**-52], [1.0, 1.0]],
}


def populations() -> dict[str, tuple[dict[str, Any], dict[Any, Fraction], int]]:
    """Each with its law in fractions and its number of states."""
    made: dict[str, tuple[dict[str, Any], dict[Any, Fraction], int]] = {}
    for name, (rows, start) in CHAINS.items():
        spec = {"model": "markov", "transition": rows, "initial": start, "length": 3}
        made[f"chain, {name}"] = (spec, exact_attack.chain(rows, start, 3), len(rows))
    for name, cells in JOINTS.items():
        law = exact_attack.joint(cells)
        made[f"law, {name}"] = ({"model": "finite", "probabilities": cells}, law, 2)
    for name, table in GRAPHS.items():
        factors: list[dict[str, Any]] = [
            {"between": [0, 1], "table": table},
            {"between": [1, 2], "table": table},
        ]
        spec = {"model": "graph", "records": 3, "states": 2, "factors": factors}
        made[f"graph, {name}"] = (spec, exact_attack.factors(3, 2, factors), 2)
        if all(cell > 0 for row in table for cell in row):
            rows = [[cell / sum(row) for cell in row] for row in table]
            nodes = [
                {"name": "a", "law": [0.5, 0.5]},
                {"name": "b", "parent": "a", "transition": rows},
                {"name": "c", "parent": "b", "transition": rows},
            ]
            law = exact_attack.chain(rows, [0.5, 0.5], 3)
            made[f"tree, {name}"] = ({"model": "tree", "nodes": nodes}, law, 2)
    return made


POPULATIONS = populations()


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def level(spec: dict[str, Any], epsilon: float, *more: str) -> float | None:
    """The certified level, which the kernel re-derives; `None` for a clear refusal."""
    Path("p.json").write_text(json.dumps(spec))
    Path("c.json").unlink(missing_ok=True)
    command = ["leakage", "p.json", "--epsilon", repr(epsilon), "--seconds", "5", "--json"]
    result = CliRunner().invoke(app, [*command, "--certificate", "c.json", *more])
    assert isinstance(result.exception, SystemExit | None), result.exc_info
    if result.exit_code != 0:
        assert re.match(r"(Error|Refused): (population|--epsilon|certificate)", result.stderr), (
            result.stderr
        )
        return None
    document = json.loads(Path("c.json").read_text())
    verified = CliRunner().invoke(app, ["verify", "c.json"])
    assert verified.exit_code == 0, verified.stdout
    claimed = float(document["claim"]["epsilon"])
    assert math.isfinite(claimed)
    assert claimed >= json.loads(result.stdout)["best"]["epsilon"] * (1 - 1e-12)
    return claimed


@pytest.mark.parametrize("epsilon", BUDGETS)
@pytest.mark.parametrize("name", POPULATIONS)
def test_no_exact_attack_is_above_a_certified_level(name: str, epsilon: float) -> None:
    spec, law, states = POPULATIONS[name]
    claimed = level(spec, epsilon)
    if claimed is None:
        return
    assert claimed >= exact_attack.attack(law, states, epsilon)
    records = len(next(iter(law)))
    assert claimed <= records * epsilon * (1 + 1e-9)


def test_most_of_them_have_a_level() -> None:
    """A refusal is an answer, but not to everything."""
    specs = list(POPULATIONS.values())[:: 1 if in_full() else 3]
    levels = [level(spec, epsilon) for spec, *_ in specs for epsilon in (1e-12, 1e3)]
    assert sum(claimed is not None for claimed in levels) >= 0.8 * len(levels)


NEARLY_SINGULAR: dict[str, list[list[float]]] = {
    "plain": [[1.0, 0.5], [0.5, 1.0]],
    "1e-6 from singular": [[1.0, 1 - 1e-6], [1 - 1e-6, 1.0]],
    "1e-15 from singular": [[1.0, 1 - 1e-15], [1 - 1e-15, 1.0]],
    "singular": [[1.0, 1.0], [1.0, 1.0]],
    "three": [[1.0, 0.999999, 0.5], [0.999999, 1.0, 0.5], [0.5, 0.5, 1.0]],
}


@pytest.mark.parametrize("epsilon", BUDGETS)
@pytest.mark.parametrize("name", NEARLY_SINGULAR)
def test_covariances_that_are_nearly_singular(name: str, epsilon: float) -> None:
    """Levels depend on no scale: variances are multiplied by powers of 4, which round nothing."""
    rows = NEARLY_SINGULAR[name]
    levels = []
    for scale in (1.0, 2.0**80, 2.0**-40):
        spec = {
            "model": "gaussian",
            "covariance": [[cell * scale for cell in row] for row in rows],
        }
        levels.append(level(spec, epsilon, "--kind", "lipschitz"))
    claimed = levels[0]
    if claimed is None:
        assert levels == [None] * 3
        return
    for other in levels[1:]:
        assert other == pytest.approx(claimed, rel=1e-9)
    assert epsilon <= claimed <= len(rows) * epsilon * (1 + 1e-9)
    if len(rows) == 2:  # with correlation r a record moves the mean of the other by r
        assert claimed >= epsilon * (1 + rows[0][1]) * (1 - 1e-9)


@pytest.mark.parametrize("target", BUDGETS)
@pytest.mark.parametrize("name", ["chain, rare", "chain, absorbing", "law, impossible pairs"])
def test_calibration_stays_within_its_target(name: str, target: float) -> None:
    Path("p.json").write_text(json.dumps(POPULATIONS[name][0]))
    command = ["calibrate", "p.json", "--target", repr(target), "--json"]
    result = CliRunner().invoke(app, command)
    assert isinstance(result.exception, SystemExit | None)
    if result.exit_code != 0:
        assert re.match(r"(Error|Refused): ", result.stderr)
        return
    answer = json.loads(result.stdout)
    assert 0.0 < answer["dp_epsilon"] <= answer["certified_epsilon"] <= target
    spec, law, states = POPULATIONS[name]
    assert exact_attack.attack(law, states, answer["dp_epsilon"]) <= target
    claimed = level(spec, answer["dp_epsilon"])
    assert claimed is None or claimed <= target * (1 + 1e-9)


BOUNDS = {
    "plain": (0.0, 100.0),
    "1e12": (0.0, 1e12),
    "1e-6": (-1e-6, 1e-6),
    "1e300": (0.0, 1e300),
    "1e-300": (0.0, 1e-300),
    "far from 0": (1e12, 1e12 + 1.0),
    "next to each other": (1.0, 1.0 + 2**-52),
}


@pytest.mark.parametrize("epsilon", BUDGETS)
@pytest.mark.parametrize("name", BOUNDS)
def test_releases_of_any_scale_have_enough_noise(name: str, epsilon: float) -> None:
    """The noise is at least that of Laplace's law on real numbers, and the certificate holds."""
    low, high = BOUNDS[name]
    rows = 8
    cells = [low, high] * (rows // 2)
    Path("t.csv").write_text("x\n" + "".join(f"{cell!r}\n" for cell in cells))
    Path("s.toml").write_text(
        f'[data]\nsource = "t.csv"\ndataset = "d"\nn = {rows}\n[data.columns]\n'
        f"x = {{ bounds = [{low!r}, {high!r}] }}\n"
        '[population]\nmodel = "independent"\ncovers = ["x"]\nsource = "us"\n'
        f"[budget]\nepsilon = {epsilon!r}\n"
        '[[query]]\nname = "m"\nkind = "mean"\ncolumn = "x"\n'
    )
    command = ["release", "s.toml", "--certificate", "c.json", "--json"]
    result = CliRunner().invoke(app, command)
    assert isinstance(result.exception, SystemExit | None), result.exc_info
    if result.exit_code != 0:
        assert re.match(r"Error: (data\.|budget|query|scale)", result.stderr), result.stderr
        assert not Path("ledger.db").exists()
        return
    assert CliRunner().invoke(app, ["verify", "c.json"]).exit_code == 0
    (answer,) = json.loads(result.stdout)["results"]
    assert math.isfinite(answer["value"])
    width = float(Fraction(high) - Fraction(low))
    assert answer["error"]["value"] >= width / rows / epsilon * math.log(20) * 0.999
    spent = json.loads(CliRunner().invoke(app, ["ledger", "show", "--json"]).stdout)
    assert 0.0 < spent["datasets"][0]["spent"] <= epsilon
