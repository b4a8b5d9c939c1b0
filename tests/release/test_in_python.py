"""What people see who use the package from Python: names, short texts, positional fields."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayesdp as bdp

TABLE = pd.DataFrame(
    {
        "pair": list("aabbcc"),
        "height": [150.0, 165, 182, 121, 168, 171],
        "sex": ["f", "m"] * 3,
    }
)


def study(folder: Path, *queries: dict[str, Any], **budget: Any) -> Any:
    return bdp.Study(
        TABLE,
        dataset="pairs",
        n=6,
        columns={
            "pair": {"role": "cluster"},
            "height": {"bounds": [120, 220], "unit": "cm"},
            "sex": {"public": True, "states": ["f", "m"]},
        },
        population=bdp.Clusters(2, covers=["height"]),
        budget={"epsilon": 1.0} | budget,
        queries=list(queries),
        ledger=str(folder / "ledger.db"),
    )


MEAN = {"name": "mean", "kind": "mean", "column": "height"}
TALL = {"name": "tall", "kind": "count", "where": "height > 170"}
BY = {"name": "by sex", "kind": "mean", "column": "height", "by": "sex"}


def test_checks_and_releases_are_short(tmp_path: Path) -> None:
    made = study(tmp_path, MEAN, TALL, BY)
    check = made.check()
    assert repr(check) == "Check(3 queries, DP cost 0.5, BDP level 1 of 1: it fits)"
    lines = str(check).splitlines()
    assert len(lines) == 4
    assert lines[0].startswith("mean: +- ")
    assert " cm (95 %), DP cost 0.16666" in lines[0]
    assert " cm" not in lines[1]
    assert " / rows cm (95 %)" in lines[2]
    release = made.release()
    assert repr(release) == f"Release({release.id[:8]}: 4 numbers, DP cost 0.5, BDP level 1)"
    assert len(str(release).splitlines()) == 5
    assert str(release["tall"]) in str(release)
    assert repr(release["tall"]).startswith("Result(tall: ")
    assert "by sex, f: " in str(release)
    assert repr(made.check()).endswith("it does not fit)")


def test_gaussian_noise_in_short(tmp_path: Path) -> None:
    made = study(tmp_path, TALL, delta=1e-6, noise="gaussian")
    for shown in (repr(made.check()), repr(made.release())):
        assert "zCDP cost" in shown
        assert "at delta 1e-06" in shown
        assert len(shown) < 120


def test_errors_are_never_shown_smaller(tmp_path: Path) -> None:
    result = study(tmp_path, MEAN).release()["mean"]
    shown = float(str(result).split("+- ")[1].split()[0])
    assert result.error(0.95) <= shown <= 1.0001 * result.error(0.95)


def test_a_report_is_short() -> None:
    report = bdp.MarkovChain([[0.9, 0.1], [0.1, 0.9]], length=100).leakage(0.5)
    assert repr(report).startswith("LeakageReport(3.36265")
    assert len(repr(report)) < 120


def test_no_function_stands_for_the_time() -> None:
    for what in (bdp.Study.release, bdp.Ledger.__init__):
        assert "<function" not in str(inspect.signature(what))


POSITIONAL = [
    (bdp.MarkovChain, ([[0.9, 0.1], [0.3, 0.7]],), {"length": 5}, ["transition"]),
    (bdp.Gaussian, (np.array([[1.0, 0.3], [0.3, 1.0]]),), {}, ["covariance"]),
    (bdp.Clusters, (3,), {}, ["size"]),
    (bdp.Independent, (), {}, []),
    (bdp.Unknown, (7,), {}, ["records"]),
    (bdp.Autoregressive, (0.5, 9), {}, ["coefficient", "length"]),
    (bdp.Finite, ([[0.4, 0.1], [0.1, 0.4]],), {}, ["probabilities"]),
    (bdp.Family, ([bdp.Clusters(2)],), {}, ["members"]),
    (bdp.Tree, ([{"name": "a", "law": [0.5, 0.5]}],), {}, ["nodes"]),
    (bdp.Network, ([{"name": "a", "states": 2, "table": [0.5, 0.5]}],), {}, ["nodes"]),
]


@pytest.mark.parametrize(("kind", "values", "named", "names"), POSITIONAL)
def test_the_main_fields_need_no_name(
    kind: Any, values: tuple[Any, ...], named: dict[str, Any], names: list[str]
) -> None:
    made = kind(*values, **named)
    assert made.spec() == kind(**dict(zip(names, values, strict=True)), **named).spec()
    with pytest.raises(TypeError, match="without a name"):
        kind(*values, *values, 1, 2)
    if names:
        with pytest.raises(TypeError, match=f"{names[0]} twice"):
            kind(*values, **named, **{names[0]: values[0]})


def test_every_population_says_what_needs_no_name() -> None:
    from bayesdp.populations import MODELS

    tested = {kind for kind, *_ in POSITIONAL}
    assert set(MODELS.values()) - tested == {bdp.Graph}
    assert bdp.Graph.positional == ()
