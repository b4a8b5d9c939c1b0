"""`bayesdp program check`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bayesdp.cli import app
from tests.golden.corpus import EXAMPLES

ROOT = Path(__file__).parents[2]
HEAVY = ("numpy", "scipy", "pandas", "opendp", "ibis", "duckdb", "sqlalchemy", "jax")
COIN = """
from bayesdp.programs import Bool, Database, Int, Private, Public, Real, laplace, program


@program
def coin(obs: Database[Bool], *, level: Public[Real[0.01, 1]] = 0.5) -> Private[Int]:
    return laplace(sum(obs), epsilon=level)
"""


def run(*arguments: str):
    return CliRunner().invoke(app, ["program", "check", *arguments], env={"COLUMNS": "200"})


@pytest.fixture
def coin(tmp_path: Path) -> str:
    path = tmp_path / "coin.py"
    path.write_text(COIN, encoding="utf-8")
    return str(path)


def test_an_accepted_program(coin: str) -> None:
    done = run(coin)
    assert done.exit_code == 0
    assert (
        "ACCEPTED coin: (0.5, 0)-differentially private when one record is replaced" in done.output
    )
    assert "parser and lowering" in done.output
    read_back = json.loads(run(coin, "--json").stdout)
    assert (read_back["verdict"], read_back["dp_epsilon"], read_back["dp_delta"]) == (
        "ACCEPTED",
        0.5,
        0.0,
    )
    assert (read_back["kind"], read_back["reason"], read_back["line"]) == ("any", None, None)
    assert read_back["name"] == "coin"
    assert read_back["trusted"]


def test_public_arguments_are_exact(coin: str) -> None:
    for text, exact, shown in (("0.3", "3/10", 0.3), ("1/3", "1/3", 0.33333333333333337)):
        read_back = json.loads(run(f"{coin}:coin", "--set", f"level={text}", "--json").stdout)
        assert read_back["exact"] == [exact, "0"]
        assert read_back["dp_epsilon"] == shown


def test_a_kind_with_its_column(tmp_path: Path) -> None:
    path = str(EXAMPLES["mean_height"].write(tmp_path))
    read_back = json.loads(run(path, "--json").stdout)
    assert (read_back["kind"], read_back["column"], read_back["interval"]) == (
        "lipschitz",
        "height",
        [140, 200],
    )
    assert "clipped to [140, 200]" in run(path).output


def test_a_rejected_program_shows_the_place(tmp_path: Path) -> None:
    example = EXAMPLES["private_branch"]
    path = example.write(tmp_path)
    done = run(str(path))
    assert done.exit_code == 1
    assert done.output == example.said
    read_back = json.loads(run(str(path), "--json").stdout)
    assert run(str(path), "--json").exit_code == 1
    assert (read_back["verdict"], read_back["code"], read_back["line"]) == (
        "REJECTED",
        "private-control",
        7,
    )
    assert read_back["dp_epsilon"] is None
    assert read_back["trusted"] == []
    assert read_back["accepted"]


def test_unknown_is_not_accepted(tmp_path: Path) -> None:
    done = run(str(EXAMPLES["fold_that_grows"].write(tmp_path)), "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout)["verdict"] == "UNKNOWN"


def test_several_programs(coin: str) -> None:
    path = Path(coin)
    path.write_text(COIN + COIN[COIN.index("@program") :].replace("coin", "other"))
    done = run(coin, "--json")
    assert done.exit_code == 0
    assert [load["name"] for load in json.loads(done.stdout)["programs"]] == ["coin", "other"]
    path.write_text(
        path.read_text()
        + "\n\n@program\ndef bad(obs: Database[Bool]) -> Private[Int]:\n    return sum(obs)\n"
    )
    assert run(coin).exit_code == 1
    assert run(f"{coin}:other").exit_code == 0
    assert json.loads(run(f"{coin}:other", "--json").stdout)["name"] == "other"


def test_a_number_of_records(tmp_path: Path) -> None:
    path = str(EXAMPLES["coin_by_hellinger"].write(tmp_path))
    assert json.loads(run(path, "--n", "537", "--json").stdout)["n"] == 537
    assert "for 537 records." in run(path, "--n", "537").output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere.py"], "readable text file"),
        (["{coin}:con"], "Did you mean 'coin'?"),
        (["{coin}:1"], "FILE or FILE:NAME"),
        (["{coin}", "--n", "0"], "at least 1"),
        (["{coin}", "--set", "level"], "NAME=VALUE"),
        (["{coin}", "--set", "level=2"], "Real[0.01, 1]"),
        (["{coin}", "--set", "level=yes"], "Real[0.01, 1]"),
        (["{coin}", "--set", "lvel=1"], "It has level."),
        (["{coin}", "--set", "level=1", "--set", "level=1"], "each name once"),
    ],
)
def test_wrong_input(coin: str, arguments: list[str], said: str) -> None:
    given = [argument.replace("{coin}", coin) for argument in arguments]
    done = run(*given)
    assert done.exit_code == 2
    assert said in done.output
    as_json = run(*given, "--json")
    assert as_json.exit_code == 2
    assert json.loads(as_json.stdout)["status"] == 2


def test_a_file_without_programs_and_one_that_is_no_text(tmp_path: Path) -> None:
    empty = tmp_path / "empty.py"
    empty.write_text("")
    assert run(str(empty)).exit_code == 2
    assert "@program" in run(str(empty)).output
    empty.write_bytes(b"\xff\xfe\x00")
    assert run(str(empty)).exit_code == 2
    assert run(str(tmp_path)).exit_code == 2


def test_a_byte_order_mark_and_windows_lines(tmp_path: Path) -> None:
    path = tmp_path / "windows.py"
    path.write_bytes(b"\xef\xbb\xbf" + COIN.replace("\n", "\r\n").encode())
    assert run(str(path)).exit_code == 0


def in_a_new_process(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        check=False,
    )


@pytest.mark.parametrize("name", ["mean_height", "require_a_size"])
def test_no_heavy_library_is_imported(name: str, tmp_path: Path) -> None:
    path = str(EXAMPLES[name].write(tmp_path))
    # typer itself looks whether there is a pydantic, so that one is looked for below only.
    code = f"""if True:
        import sys
        from typer.testing import CliRunner
        import bayesdp.cli
        done = CliRunner().invoke(bayesdp.cli.app, ["program", "check", {path!r}])
        assert done.exit_code == 0, done.output
        print([one for one in {HEAVY!r} if one in sys.modules])
    """
    done = in_a_new_process("-c", code)
    assert done.stdout == "[]\n", done.stderr


def test_the_checker_itself_needs_no_library_but_flint_pydantic_and_solvers(tmp_path: Path) -> None:
    names = ("fold_with_a_helper", "coin_by_hellinger", "dose_response")
    paths = [str(EXAMPLES[name].write(tmp_path)) for name in names]
    code = f"""if True:
        import sys
        from bayesdp.programs.source import read_file
        from bayesdp.programs.checked_files import verdict_in
        for path in {paths!r}:
            found = verdict_in(read_file(path))
            assert found.verdict == "ACCEPTED"
        print([one for one in {(*HEAVY, "typer", "rich")!r} if one in sys.modules])
    """
    done = in_a_new_process("-c", code)
    assert done.stdout == "[]\n", done.stderr


def test_nothing_of_the_file_is_executed(tmp_path: Path) -> None:
    witness = tmp_path / "executed"
    path = tmp_path / "eager.py"
    path.write_text(f"open({str(witness)!r}, 'w').close()\n" + COIN)
    assert run(str(path)).exit_code == 1
    path.write_text(COIN.replace("= 0.5", f"= open({str(witness)!r}, 'w')"))
    assert run(str(path)).exit_code == 1
    assert not witness.exists()


RATES = """from bayesdp.programs import (
    Database, Gamma, Int, Private, Public, Real, gamma, laplace, noise_aware, observe, poisson,
    program, statistics,
)


@program
def each(fits: Database[Int[0, 9]], *, years: Public[Real[0.1, 9]] = 1) -> Private[Gamma]:
    model = observe((x for x in fits), poisson(exposure=years), prior=gamma(2, rate=1))
    return noise_aware(laplace(statistics(model), epsilon=1))


@program
def together(fits: Database[Int[0, 9]]) -> Private[Gamma]:
    model = observe((x for x in fits), poisson(exposure=4 * fits.size), prior=gamma(2, rate=1))
    return noise_aware(laplace(statistics(model), epsilon=1))
"""


def test_an_exposure_that_does_not_grow_with_the_table_is_noted(tmp_path: Path) -> None:
    file = tmp_path / "rates.py"
    file.write_text(RATES)
    assert "write exposure=fits.size." in run(f"{file}:each").stdout
    assert "write exposure=0.5 * fits.size." in run(f"{file}:each", "--set", "years=0.5").stdout
    assert "Note:" not in run(f"{file}:together").stdout
    (note,) = json.loads(run(f"{file}:each", "--json").stdout)["notes"]
    assert note.startswith("exposure=1 is that of all records together")
    refused = run(str(file), "--set", "years=2")
    assert refused.exit_code == 2
    assert "expected one program" in refused.stderr
    assert "rates.py:together" in refused.stderr
