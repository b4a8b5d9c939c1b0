"""What people see who use the package from Python: names, short texts, positional fields."""

from __future__ import annotations

import inspect
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayesdp as bdp
from bayesdp.release.words import cost_words

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
    assert len(lines) == 4 + len(check.warnings)
    assert lines[4:] == check.warnings
    assert lines[0].startswith("mean: +- ")
    assert " cm (95 %), DP cost 0.16666" in lines[0]
    assert " cm" not in lines[1]
    assert " / rows cm (95 %)" in lines[2]
    release = made.release()
    assert repr(release) == f"Release({release.id[:8]}: 4 numbers, DP cost 0.5, BDP level 1)"
    assert len(str(release).splitlines()) == 5 + len(check.warnings)
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
    with pytest.raises(bdp.InputError, match="without a name"):
        kind(*values, *values, 1, 2)
    if names:
        with pytest.raises(TypeError, match=f"{names[0]} twice"):
            kind(*values, **named, **{names[0]: values[0]})


def test_every_population_says_what_needs_no_name() -> None:
    from bayesdp.populations import MODELS

    tested = {kind for kind, *_ in POSITIONAL}
    assert set(MODELS.values()) - tested == {bdp.Graph, bdp.Panel}
    assert bdp.Graph.positional == bdp.Panel.positional == ()


def test_a_second_field_without_its_name_is_told_its_name() -> None:
    table = [[0.9, 0.1], [0.1, 0.9]]
    with pytest.raises(
        bdp.InputError, match=r"MarkovChain is 10: expected only transition.*length="
    ):
        bdp.MarkovChain(table, 10)


@pytest.mark.parametrize("size", ["3", b"3", "three"])
def test_a_text_is_not_a_number(size: Any) -> None:
    for make in (
        lambda: bdp.Clusters(size),
        lambda: bdp.Unknown(size),
        lambda: bdp.MarkovChain([[0.9, 0.1], [0.1, 0.9]], length=size),
        lambda: bdp.Autoregressive(coefficient=size, length=3),
        lambda: bdp.Gaussian(size=size, max_correlation=0.2),
    ):
        with pytest.raises(bdp.InputError, match="a number, without quotes"):
            make()


def test_numbers_of_numpy_are_numbers(tmp_path: Path) -> None:
    assert bdp.Clusters(np.int64(3)) == bdp.Clusters(3)
    assert bdp.Gaussian(size=np.int32(3), max_correlation=np.float32(0.25)).size == 3
    made = bdp.Study(
        TABLE,
        dataset="pairs",
        n=np.int64(len(TABLE)),  # type: ignore[arg-type]
        columns={"height": {"bounds": [120, 220]}},
        population=bdp.Independent(covers=["height"]),
        budget={"epsilon": 1.0},
        queries=[MEAN],
        ledger=str(tmp_path / "ledger.db"),
    )
    assert made.spec.data.n == 6
    assert bdp.verify(made.release())
    assert repr(made.ledger()) == f"Ledger({str(tmp_path / 'ledger.db')!r})"


@pytest.mark.parametrize("level", [10**400, -(10**400), "1", None, float("nan")])
def test_levels_and_costs_are_finite_numbers(level: Any) -> None:
    two = bdp.Clusters(2)
    for ask in (two.leakage, two.calibrate, lambda x: bdp.calibrate_gaussian(two, x, 1e-6)):
        with pytest.raises(bdp.InputError, match="expected a finite number of nats") as refused:
            ask(level)
        assert len(str(refused.value)) < 150


HISTOGRAM = {"name": "heights", "kind": "histogram", "column": "height", "bins": [120, 170, 220]}
BOTH = HISTOGRAM | {"name": "heights by sex", "by": "sex"}


def test_results_are_found_by_query_group_and_cell(tmp_path: Path) -> None:
    release = study(tmp_path, MEAN, BY, HISTOGRAM, BOTH).release()
    assert len(release) == 1 + 2 + 2 + 4
    assert release["mean"] is release.results[0]
    assert [result.group for result in release["by sex"]] == ["f", "m"]
    assert "by sex" in release
    assert "f" not in release
    with pytest.raises(bdp.InputError, match="the name of a query"):
        release[()]
    assert release["by sex", "m"] is release["by sex"][1]
    assert [result.cell for result in release["heights"]] == ["[120, 170)", "[170, 220]"]
    assert release["heights", "[170, 220]"] is release["heights"][1]
    assert [result.cell for result in release["heights by sex", "f"]] == [
        "[120, 170)",
        "[170, 220]",
    ]
    assert release["heights by sex", "f", "[170, 220]"] is release["heights by sex"][1]
    for wrong, remedy in (
        ("hights", "Did you mean 'heights'?"),
        (7, "Known: by sex, heights, heights by sex, mean."),
        (("by sex", "w"), "Known: f, m."),
        (("heights", "[170, 220)"), "Did you mean '[170, 220]'?"),
    ):
        with pytest.raises(KeyError) as refused:
            release[wrong]
        assert remedy in str(refused.value)
    with pytest.raises(bdp.InputError, match="no more than 2 names"):
        release["by sex", "f", "f"]
    with pytest.raises(bdp.InputError, match="no name but the query's"):
        release["mean", "f"]


def test_without_polars_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release = study(tmp_path, MEAN).release()
    monkeypatch.setitem(__import__("sys").modules, "polars", None)
    with pytest.raises(bdp.UnsupportedError, match=r"pip install 'bayesdp\[polars\]'"):
        release.to_polars()


def test_refusals_name_the_call_where_a_study_has_no_file(tmp_path: Path) -> None:
    columns = {"height": {"bounds": [120, 220]}}
    for table, kind in (
        (pd.DataFrame({"height": [150.0, None]}), bdp.TableMismatchError),
        (pd.DataFrame({"hight": [150.0, 160.0]}), bdp.TableError),
    ):
        made = bdp.Study(
            table,
            dataset="pairs",
            n=2,
            columns=columns,
            population=bdp.Independent(covers=["height"]),
            budget={"epsilon": 1.0},
            queries=[MEAN],
            ledger=str(tmp_path / "ledger.db"),
        )
        with pytest.raises(kind) as refused:
            made.release()
        assert "call study.inspect()" in str(refused.value)
        assert "bayesdp check" not in str(refused.value)


def test_what_is_missing_or_quoted_is_told(tmp_path: Path) -> None:
    def made(table: Any, columns: Any, covers: list[str], where: str) -> Any:
        return bdp.Study(
            table,
            dataset="ill",
            n=2,
            columns=columns,
            population=bdp.Independent(covers=covers),
            budget={"epsilon": 1.0},
            queries=[{"name": "ill", "kind": "count", "where": where}],
            ledger=str(tmp_path / "ledger.db"),
        )

    table = pd.DataFrame({"ill": [True, False]})
    texts = {"ill": {"states": ["yes", "no"]}}
    with pytest.raises(bdp.InputError, match=r"population\.covers.*covers = \[\"ill\"\]"):
        made(table, texts, [], "ill == 'yes'")
    for where in ("ill = 'yes'", "ill='a == b'", 'not ill = "yes"'):
        with pytest.raises(bdp.InputError, match="Write == to compare"):
            made(table, texts, ["ill"], where)
    for where, right in (
        ("ill => 'yes'", "Write >= instead of =>"),
        ("ill =< 'yes'", "Write <= instead of =<"),
        ("ill <> 'yes'", "Write != instead of <>"),
        ("ill === 'yes'", "Write == instead of ==="),
        ("ill == 'yes' && ill == 'no'", "Write and instead of &&"),
        ("ill = '=>'", "Write == to compare"),
    ):
        with pytest.raises(bdp.InputError, match=right):
            made(table, texts, ["ill"], where)
    with pytest.raises(bdp.InputError) as refused:
        made(table, texts, ["ill"], "ill == ")
    assert "Write ==" not in str(refused.value)
    with pytest.raises(bdp.TableError, match=r"states = \[true, false\]"):
        made(table, texts, ["ill"], "ill == 'yes'").release()
    assert made(table, {"ill": {"states": [True, False]}}, ["ill"], "ill == True").inspect() == []


@pytest.mark.parametrize(
    ("pure", "rho", "words"),
    [
        (1.0, 0.0, "DP cost 1"),
        (0.0, 0.5, "zCDP cost 0.5"),
        (1.0, 0.5, "DP cost 1 and zCDP cost 0.5"),
        (0.0, 0.0, "DP cost 0"),
    ],
)
def test_a_cost_is_said_with_all_its_parts(pure: float, rho: float, words: str) -> None:
    assert cost_words(pure, rho) == words


def test_all_that_depends_on_cells_is_one_kind_of_refusal(tmp_path: Path) -> None:
    """Not even the kind of the error tells what was found; `inspect` does, with the remedy."""
    height = TABLE["height"]
    tables = {
        "wrong-type": TABLE.assign(height=list("abcdef")),
        "mixed-cells": TABLE.assign(height=pd.Series([1.0, "a", 2, 3, 4, 5], dtype=object)),
        "missing": TABLE.assign(height=height.where(height > 130)),
        "n": TABLE.iloc[:5],
        "empty": TABLE.iloc[:0],
    }
    refused = []
    for code, table in tables.items():
        made = study(tmp_path, MEAN)
        made._data = replace(made._data, source=table)
        (finding,) = made.inspect()
        assert finding.code == code
        with pytest.raises(bdp.TableMismatchError) as caught:
            made.release()
        refused.append((type(caught.value), str(caught.value), vars(caught.value)))
        assert caught.value.__context__ is None
    assert refused[0][0] is bdp.TableMismatchError
    assert refused[0][1].endswith("call study.inspect().")
    assert all(refusal == refused[0] for refusal in refused)
    assert len(made.ledger().refusals()) == len(tables)
    frame = TABLE.convert_dtypes().assign(height=pd.to_datetime(["2020-01-01"] * 6))
    made._data = replace(made._data, source=frame)
    for look in (made.inspect, made.release):  # what a column is stored as depends on no cell
        with pytest.raises(
            bdp.errors.TableError, match=r"height is 'timestamp.*a column of numbers"
        ):
            look()
