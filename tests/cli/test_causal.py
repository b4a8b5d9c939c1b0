"""`bayesdp causal`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bayesdp.cli import app
from bayesdp.report.output import FIGURE

RELATIVES = str(Path(__file__).parents[2] / "docs" / "examples" / "relatives.toml")
COIN = {"nodes": [{"name": "x", "role": "data", "states": 2, "table": [0.5, 0.5]}]}


def run(*arguments: str):
    return CliRunner().invoke(app, ["causal", *arguments], env={"COLUMNS": "200"})


def test_both_numbers_side_by_side():
    done = run(RELATIVES)
    assert done.exit_code == 0
    assert "what setting this record changes (do)" in done.stdout
    assert "what learning it changes (see)" in done.stdout
    (row,) = (line for line in done.stdout.splitlines() if line.startswith("│ Ben's record"))
    assert [cell.strip() for cell in row.strip("│").split("│")] == ["Ben's record", "1", "3"]
    assert "assumes no independence" in done.stdout
    assert "values of others come with it" in done.stdout


def test_json():
    done = run(RELATIVES, "--json")
    read_back = json.loads(done.stdout)
    assert done.exit_code == 0
    assert read_back["dp"] == 1.0
    assert read_back["do"] == pytest.approx(1.0)
    assert read_back["see"] == pytest.approx(3.0)
    assert [item["record"] for item in read_back["records"]] == [
        "Ada's record",
        "Ben's record",
        "Cleo's record",
    ]
    assert read_back["records"][0]["see"]["attained_by"]["value"] == "well"
    assert len(read_back["reading"]) == 2


def test_another_mechanism_and_values_that_never_occur(tmp_path):
    path = tmp_path / "m.json"
    path.write_text(json.dumps({"channel": [[1.0, 0.0], [0.5, 0.5]]}), encoding="utf-8")
    done = run(json.dumps(COIN), "--mechanism", str(path), "--json")
    assert json.loads(done.stdout)["do"] is None
    assert json.loads(done.stdout)["dp"] is None
    sure = {"nodes": [COIN["nodes"][0] | {"table": [1.0, 0.0]}]}
    done = run(json.dumps(sure), "--mechanism", str(path))
    assert "Never so in this model, hence never learned: x = 1." in done.stdout
    assert "nothing: every outcome is as likely" in done.stdout
    assert "any number" in done.stdout


def test_a_figure_is_written_and_nothing_else_is_overwritten(tmp_path):
    path = tmp_path / "f.svg"
    assert run(RELATIVES, "--figure", str(path)).exit_code == 0
    assert path.read_text(encoding="utf-8").startswith(FIGURE)
    assert run(RELATIVES, "--figure", str(path), "--json").exit_code == 0
    path.write_text("<svg>mine</svg>", encoding="utf-8")
    done = run(RELATIVES, "--figure", str(path))
    assert done.exit_code == 2
    assert path.read_text(encoding="utf-8") == "<svg>mine</svg>"
    assert run(RELATIVES, "--figure", str(tmp_path / "f.png")).exit_code == 2
    assert run(RELATIVES, "--figure", str(tmp_path / "no" / "f.svg")).exit_code == 2


def test_wrong_input():
    done = run(json.dumps(COIN), "--json")
    assert done.exit_code == 2
    assert "none of its own" in json.loads(done.stdout)["error"]
    assert run("nowhere.toml").exit_code == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"nodes": [], "nodes": []}', "'nodes' stands twice"),
        (json.dumps(COIN).replace("0.5", "1" * 400, 1), "digits"),
        (json.dumps(COIN).replace("0.5", "1" * 299, 1), "a probability"),
        (json.dumps(COIN | {"mechanism": {"sum": [0, 10**12], "epsilon": 1}}), "1e+12 steps"),
        (json.dumps(COIN | {"mechanism": {"sum": [0, 10**299], "epsilon": 1}}), "steps"),
    ],
)
def test_what_can_not_be_read_is_said(text: str, words: str, tmp_path: Path):
    assert words in run(text).stderr
    file = tmp_path / "model.json"
    file.write_text(text, encoding="utf-8")
    for arguments in ((text, "--json"), (str(file), "--json")):
        done = run(*arguments)
        assert done.exit_code == 2
        assert words in json.loads(done.stdout)["error"]


def test_a_channel_in_a_file_is_read_so_too(tmp_path: Path):
    path = tmp_path / "m.json"
    for text in ('{"channel": [[1, 0]], "channel": [[1, 0]]}', f'{{"channel": [[{"1" * 400}]]}}'):
        path.write_text(text, encoding="utf-8")
        assert run(json.dumps(COIN), "--mechanism", str(path)).exit_code == 2


def test_a_toml_model_with_a_number_beyond_doubles(tmp_path: Path):
    path = tmp_path / "m.toml"
    path.write_text(
        f"nodes = [{{ name = 'x', role = 'data', states = 2, table = [{'1' * 400}, 0] }}]",
        encoding="utf-8",
    )
    assert "digits" in run(str(path)).stderr


def test_more_work_than_minutes_is_refused_at_once():
    people = [
        {"name": f"x{k}", "role": "data", "states": 2, "table": [0.5, 0.5]} for k in range(450)
    ]
    done = run(json.dumps({"nodes": people, "mechanism": {"sum": [0, 1], "epsilon": 1}}))
    assert done.exit_code == 2
    assert "450 data points" in done.stderr
    assert "`CausalModel.see`" in done.stderr


def test_levels_of_a_channel_are_rounded_up(tmp_path):
    """The title, the cells and the sentences write the same level in the same way."""
    path = tmp_path / "m.json"
    path.write_text(json.dumps({"channel": [[0.75, 0.25], [0.5, 0.5]]}), encoding="utf-8")
    shown = run(json.dumps(COIN), "--mechanism", str(path)).stdout
    # ln 2 = 0.6931471..., up
    assert "of DP cost 0.693148 says" in shown
    assert "The mechanism is 0.693148-DP" in shown
    assert "e^0.693148" in shown
    assert "0.693147" not in shown
