"""Wide tables: a row that holds both members of a pair is told before anything is released."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner

from bayesdp.cli import app
from bayesdp.release import Study
from bayesdp.release.reading.wide_tables import wide_warnings

WIDE = pd.DataFrame({"pair": [1, 2, 3], "left": [171.0, 158, 182], "right": [168.0, 175, 180]})
CM: dict[str, Any] = {"bounds": [120, 220], "unit": "cm"}
PAIRS: dict[str, Any] = {"model": "clusters", "size": 2}


def study(
    population: dict[str, Any] = PAIRS, covers: tuple[str, ...] = ("left", "right"), **more: Any
) -> Study:
    columns = more.pop("columns", {"left": CM, "right": CM})
    given: dict[str, Any] = {
        "dataset": "pairs",
        "n": 3,
        "columns": {"pair": {"role": "cluster"}, **columns},
        "population": population | {"covers": list(covers)},
        "budget": {"epsilon": 1.0},
        "queries": [{"name": "left", "kind": "sum", "column": covers[0]}],
        "ledger": "no-such-ledger.db",
    }
    return Study(WIDE, **given | more)


def test_a_pair_in_a_row_is_told() -> None:
    (warning,) = wide_warnings(study().spec)
    assert warning.startswith("The columns 'left' and 'right' look alike.")
    assert "a record is here the whole row, and the population relates up to 2 rows" in warning
    assert 'records = { value = ["left", "right"] }' in warning
    assert "safe but dear" in warning
    independent = study({"model": "independent"})
    assert wide_warnings(independent.spec) == []
    cheaper = independent.check().plan.dp_epsilon / study().check().plan.dp_epsilon
    assert cheaper == pytest.approx(2.0)
    check = study().check()
    assert warning in str(check).splitlines()
    assert "&#x27;left&#x27; and &#x27;right&#x27; look alike" in check._repr_html_()


TWO = {"a": {"states": [0, 1]}, "b": {"states": [1, 0]}}
ALIKE: dict[str, Any] = {
    "the same unit": {"a": CM, "b": CM | {"bounds": [130, 210]}},
    "the same bounds": {"a": {"bounds": [0, 1]}, "b": {"bounds": [0, 1], "unit": "m"}},
    "the same states": TWO,
    "readings of two columns": {
        "a": {"from": "left", "cuts": [170]},
        "b": {"from": "right", "cuts": [160]},
    },
}
DIFFERENT: dict[str, Any] = {
    "other units": {"a": CM, "b": CM | {"unit": "kg"}},
    "other bounds": {"a": {"bounds": [0, 1]}, "b": {"bounds": [0, 2]}},
    "other states": {"a": {"states": [0, 1]}, "b": {"states": [0, 2]}},
    "numbers and states": {"a": {"bounds": [0, 1]}, "b": {"states": [0, 1]}},
    "two readings of a column": {
        "a": {"from": "left", "cuts": [170]},
        "b": {"from": "left", "cuts": [160]},
    },
    "a column and its reading": {"a": CM, "b": {"from": "a", "cuts": [170]}},
}


def asked(columns: dict[str, Any], **more: Any) -> list[str]:
    queries = [{"name": "q", "kind": "histogram", "column": "a"}]
    if "bounds" in columns["a"]:
        queries = [{"name": "q", "kind": "sum", "column": "a"}]
    return wide_warnings(study(covers=("a", "b"), columns=columns, queries=queries, **more).spec)


@pytest.mark.parametrize("kind", ALIKE)
def test_columns_that_look_alike(kind: str) -> None:
    assert len(asked(ALIKE[kind])) == 1


@pytest.mark.parametrize("kind", DIFFERENT)
def test_columns_that_are_different_things(kind: str) -> None:
    assert asked(DIFFERENT[kind]) == []


def test_the_lines_of_a_warning_work_when_they_are_pasted(tmp_path: Path) -> None:
    """Columns of several kinds become several new ones, with the names that theirs begin with."""
    table = pd.DataFrame(
        {
            "pair": [1, 2, 3],
            "height_1": [171.0, 158, 182],
            "height_2": [168.0, 175, 180],
            "weight 1": [60, 70, 80],
            "weight 2": [61, 71, 81],
            "x": [0.5, 0.5, 0.5],
        }
    )
    table.to_csv(tmp_path / "t.csv", index=False)
    kg = {"bounds": [30, 200], "unit": "kg"}
    columns = {"height_1": CM, "weight 1": kg, "height_2": CM, "weight 2": kg}
    (warning,) = wide_warnings(study(covers=tuple(columns), columns=columns).spec)
    lines = re.search(
        r"\[data\.wide\] with the lines (records = .*) and (position = .*), let n", warning
    )
    assert lines is not None
    named = re.search(r"declare and cover '(\S+)' and '(\S+)' in their place", warning)
    assert named is not None
    assert named.groups() == ("height", "weight")
    text = (
        '[data]\nsource = "t.csv"\ndataset = "d"\nn = 6\n'
        f"[data.wide]\n{lines[1]}\n{lines[2]}\n[data.columns]\n"
        'pair = { role = "cluster" }\nmember = { public = true }\n'
        "height = { bounds = [120, 220] }\nweight = { bounds = [30, 200] }\n"
        '[population]\nmodel = "clusters"\nsize = 2\ncovers = ["height", "weight"]\n'
        '[budget]\nepsilon = 1.0\n[[query]]\nname = "q"\nkind = "mean"\ncolumn = "height"\n'
    )
    (tmp_path / "study.toml").write_text(text)
    made = Study.load(tmp_path / "study.toml")
    assert made.inspect() == []
    assert made.check().warnings == []


def test_groups_of_other_sizes_are_left_out_of_the_lines() -> None:
    columns = {"a": CM, "b": CM, "c": {"bounds": [0, 1]}, "d": {"bounds": [0, 1]}}
    alike = {**columns, "e": {"bounds": [0, 1]}}
    (warning,) = wide_warnings(study(covers=tuple(columns), columns=columns).spec)
    assert 'records = { value = ["a", "b"], value1 = ["c", "d"] }' in warning
    (warning,) = wide_warnings(study(covers=tuple(alike), columns=alike).spec)
    assert 'records = { value = ["a", "b"] }' in warning


def test_what_is_made_long_is_not_warned_of() -> None:
    wide = {
        "records": {"left": ["a", "b"], "right": ["c", "d"]},
        "position": {"name": "member", "values": [1, 2]},
    }
    assert wide_warnings(study(wide=wide, n=6).spec) == []


def test_several_columns_are_all_named() -> None:
    columns = {"a": CM, "b": CM, "c": CM}
    (warning,) = wide_warnings(study(covers=("a", "b", "c"), columns=columns).spec)
    assert "The columns 'a', 'b' and 'c' look alike" in warning


UNKNOWN = {"model": "unknown", "records": 3}
FAMILY = {"model": "family", "members": [PAIRS, {"model": "clusters", "size": 3}]}


@pytest.mark.parametrize("population", [UNKNOWN, FAMILY])
def test_other_populations_that_say_nothing_of_columns(population: dict[str, Any]) -> None:
    assert len(wide_warnings(study(population).spec)) == 1


def test_where_records_are_as_declared_nothing_is_said() -> None:
    assert wide_warnings(study(covers=("left",)).spec) == []
    assert wide_warnings(study({"model": "independent"}).spec) == []
    assert wide_warnings(study({"model": "clusters", "size": 1}).spec) == []
    unit = {"pair": {"role": "cluster"}, "id": {"public": True}, "left": CM, "right": CM}
    assert wide_warnings(study(columns=unit, unit="id", rows_per_unit=1).spec) == []
    # Laws that speak of both columns of a record.
    joint = [[0.25, 0.0, 0.0, 0.25], [0.0, 0.0, 0.0, 0.0], [0.0] * 4, [0.25, 0.0, 0.0, 0.25]]
    assert asked(TWO, population={"model": "finite", "probabilities": joint}) == []
    vectors = {
        "model": "gaussian",
        "size": 2,
        "covariance": [[1.0 if i == j else 0.2 for i in range(4)] for j in range(4)],
        "bounds": [[120, 220], [120, 220]],
    }
    assert wide_warnings(study(vectors).spec) == []


def test_clusters_of_one_row_each_are_a_hint_for_the_curator(tmp_path: Path) -> None:
    pairs = pd.DataFrame({"pair": [1, 1, 2], "height": [171.0, 158.0, 182.0]})
    single = pairs.assign(pair=[1, 2, 3])
    declared: dict[str, Any] = {
        "dataset": "d",
        "columns": {"pair": {"role": "cluster"}, "height": {"bounds": [120, 220], "unit": "cm"}},
        "budget": {"epsilon": 1.0},
        "queries": [{"name": "q", "kind": "mean", "column": "height"}],
        "ledger": str(tmp_path / "ledger.db"),
    }

    def hints(table: pd.DataFrame, size: int = 2, n: int = 3, **more: Any) -> list[str]:
        population = {"model": "clusters", "size": size, "covers": ["height"]}
        made = Study(table, n=n, population=population, **declared | more)
        assert made.inspect() == []
        return made.hints()

    (hint,) = hints(single)
    assert "Each 'pair' has one record in the table, and the population relates up to 2" in hint
    assert hints(pairs) == []
    assert hints(single, size=1) == []
    assert hints(single.head(1), n=1) == []  # one record says nothing
    by_person = {**declared["columns"], "id": {"public": True}}
    one_each = single.assign(id=[1, 2, 3])
    total = [{"name": "q", "kind": "sum", "column": "height"}]
    unit = {"columns": by_person, "unit": "id", "rows_per_unit": 1, "queries": total}
    assert hints(one_each, **unit) == []
    # The command says so, and is not refused; a table with faults has no hints.
    single.to_csv(tmp_path / "t.csv", index=False)
    file = tmp_path / "study.toml"
    text = (
        '[data]\nsource = "t.csv"\ndataset = "d"\nn = 3\n[data.columns]\n'
        'pair = {role = "cluster"}\nheight = {bounds = [120, 220], unit = "cm"}\n'
        '[population]\nmodel = "clusters"\nsize = 2\ncovers = ["height"]\n'
        '[budget]\nepsilon = 1.0\n[[query]]\nname = "q"\nkind = "mean"\ncolumn = "height"\n'
    )
    file.write_text(text)
    run = CliRunner().invoke
    done = run(app, ["check", str(file), "--data"])
    assert done.exit_code == 0
    assert f"Curator only: {hint}" in done.stderr
    assert "Each 'pair'" not in done.stdout
    assert json.loads(run(app, ["check", str(file), "--data", "--json"]).stdout)["hints"] == [hint]
    file.write_text(text.replace("n = 3", "n = 4"))
    read_back = json.loads(run(app, ["check", str(file), "--data", "--json"]).stdout)
    assert (len(read_back["findings"]), read_back["hints"]) == (1, [])


def test_a_release_warns_before_it_pays(tmp_path: Path) -> None:
    made = study(ledger=str(tmp_path / "ledger.db"))

    def stop(warning: str) -> None:
        raise KeyboardInterrupt(warning)

    with pytest.raises(KeyboardInterrupt, match="'left' and 'right' look alike"):
        made.release(warn=stop)
    assert made.spends() == []


def test_the_command_warns_with_data_and_without(tmp_path: Path) -> None:
    WIDE.to_csv(tmp_path / "t.csv", index=False)
    file = tmp_path / "study.toml"
    cm = '{bounds = [120, 220], unit = "cm"}'
    file.write_text(
        '[data]\nsource = "t.csv"\ndataset = "d"\nn = 3\n[data.columns]\n'
        f'pair = {{role = "cluster"}}\nleft = {cm}\nright = {cm}\n'
        '[population]\nmodel = "clusters"\nsize = 2\ncovers = ["left", "right"]\n'
        '[budget]\nepsilon = 1.0\n[[query]]\nname = "q"\nkind = "mean"\ncolumn = "left"\n'
    )
    run = CliRunner().invoke
    for more in ([], ["--data"]):
        done = run(app, ["check", str(file), *more])
        assert done.exit_code == 0
        assert "'left' and 'right' look alike" in " ".join(done.stdout.split())
    warning, _ = json.loads(run(app, ["check", str(file), "--json"]).stdout)["warnings"]
    assert "look alike" in warning
    done = run(app, ["release", str(file), "--report", str(tmp_path / "r.html")])
    assert warning in done.stderr.splitlines()
    assert "look alike" not in done.stdout  # once
    assert "look alike" in (tmp_path / "r.html").read_text()
    text = (Path(__file__).parents[2] / "docs" / "study-files.md").read_text()
    assert "### Wide and long tables" in text, "where the warning points"
