"""The benchmarks run on the data that are always there, and can fail."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


def script(*arguments: str, data: Path) -> subprocess.CompletedProcess[str]:
    source = str(FOLDER.parent / "src")
    environment = {**os.environ, "PYTHONPATH": source, "BAYESDP_SHARED": str(data)}
    command = [sys.executable, str(FOLDER / arguments[0]), *arguments[1:]]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


@pytest.fixture
def noise(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module("noise")


def test_noise_without_the_real_data(tmp_path: Path) -> None:
    done = script(
        "noise.py", "wheeze", "glucose", "--figure", str(tmp_path / "n.svg"), data=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "left out: glucose, its data set is absent" in done.stdout
    assert "wheeze, four years: adversaries who know no record" in done.stdout
    assert "published: MQMExact" in done.stdout
    (order_2,) = [line for line in done.stdout.splitlines() if "order 2, uninformed" in line]
    assert order_2.split()[3:5] == ["0.5614", "3.5913"]


def test_lange_without_the_real_data(tmp_path: Path) -> None:
    done = script("lange.py", data=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "left out: Activity" in done.stdout
    assert "SyntheticIQ, sum, 40..160: n = 20000" in done.stdout


def test_a_bound_below_ours_is_a_failure(noise: ModuleType) -> None:
    found = noise.Found("case", "any", "any", 3, ours={"a": (2.0, None), "b": (1.5, None)})
    found.published = {"theirs": (1.5, 9.0)}
    noise._compare(found, (1.0, 2.0))
    assert found.best == (1.5, None)
    assert [fault.split(", ")[2] for fault in found.faults] == ["target 2: ours None"]
    found.published = {"theirs": (1.4999, None)}
    noise._compare(found, (1.0, 2.0))
    assert len(found.faults) == 2
    found.unsound = {"theirs": "why not"}
    noise._compare(found, (1.0, 2.0))
    assert len(found.faults) == 2


def test_published_formulas(noise: ModuleType) -> None:
    """The values that the papers and the theory print."""
    import numpy as np

    table = np.array([[0.88241, 0.11759], [0.30471, 0.69529]])
    chain = noise.given_chain("", table, 17568)
    lines = noise.published(chain, "uninformed", (1.0, 10.0))
    assert lines["group privacy"] == (17568.0, 17568.0)
    assert lines["Lange et al."][0] is None
    assert lines["Lange et al."][1] == pytest.approx(5.159, abs=5e-4)
    assert set(noise.published(chain, "any", (1.0,))) == {"group privacy", "Lange et al."}


@pytest.mark.parametrize(
    ("case", "multipliers"),
    [
        ("house, above 25 kWh, order 2", {"any": 11.3677, "uninformed": 4.4023}),
        ("uci, above 25 kWh, order 2", {"any": 15.7324, "uninformed": 6.0247}),
    ],
)
def test_electricity_of_order_two_at_level_1(
    case: str, multipliers: dict[str, float], noise: ModuleType
) -> None:
    chains = {one.name: one for one in noise.SOURCES["electricity"]()}
    if case not in chains:
        pytest.skip("the data set is absent")
    page = (FOLDER.parent / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    for adversary, due in multipliers.items():
        found = noise.measure(chains[case], adversary, (1.0,))
        assert found.best == (pytest.approx(due, abs=1e-4),)
        assert not found.faults
        assert f" {due:.2f} |" in page
