"""Help: an example first, which runs; flags without a type; completion in the shell."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from bayesdp.accounting import Ledger, Reading
from bayesdp.accounting.costs.composition import level
from bayesdp.cli import app

ROOT = Path(__file__).parents[2]
FILES = {  # what the examples name, and where the docs have it
    "heights.toml": "README.md",
    "relatives.toml": "docs/causality.md",
    "coin.py": "docs/examples/programs/coin.py",
}


def commands(
    command: Any = None, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command and group by the words that one types for it, the whole application first."""
    command = command or get_command(app)
    yield path, command
    for name, child in getattr(command, "commands", {}).items():
        yield from commands(child, (*path, name))


def helped(path: tuple[str, ...]) -> list[str]:
    result = CliRunner().invoke(app, [*path, "--help"], env={"COLUMNS": "100"})
    assert result.exit_code == 0, result.output
    return [line.strip() for line in result.stdout.splitlines() if line.strip()]


def example(path: tuple[str, ...]) -> list[str]:
    usage, first = helped(path)[:2]
    assert usage.startswith("Usage: ")
    assert first.startswith("Example: bayesdp ")
    return shlex.split(first.removeprefix("Example: "))


def test_help_starts_with_an_example_of_this_command() -> None:
    paths = [path for path, _ in commands()]
    assert len(paths) > 18
    for path in paths:
        assert tuple(example(path)[1 : len(path) + 1]) == path, path


def test_lists_of_commands_say_what_each_is_for() -> None:
    for path, command in commands():
        if hasattr(command, "commands"):
            assert not any("Example" in line for line in helped(path)[2:]), path
            assert all(child.short_help for child in command.commands.values()), path


def test_flags_have_no_type() -> None:
    for path, _ in commands():
        text = "\n".join(helped(path))
        assert "<bool>" not in text
        assert "BOOLEAN" not in text.upper().split()
    assert any("<float>" in line for line in helped(("leakage",)))  # what takes a value has one


def block(page: str, name: str) -> str:
    """The block of this name on a page, or the page where that is the file."""
    text = (ROOT / page).read_text(encoding="utf-8")
    if Path(page).name == name:
        return text
    return text.split(f" {name}\n", maxsplit=1)[1].split("```", maxsplit=1)[0]


def test_each_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("cryptography", reason="the extra 'signing' makes keys")
    pytest.importorskip("mbi", reason="the extra 'synthetic' makes tables")
    monkeypatch.chdir(tmp_path)
    for name, page in FILES.items():
        Path(name).write_text(block(page, name), encoding="utf-8")
    for name in ("galton.csv", "wheeze.csv", "wheeze.toml"):
        shutil.copy(str(files("bayesdp").joinpath(f"demo_data/{name}")), name)
    pair = {"model": "finite", "probabilities": [[0.4, 0.1], [0.1, 0.4]]}
    channel = [[[0.6, 0.4], [0.5, 0.5]], [[0.5, 0.5], [0.4, 0.6]]]
    Path("model.json").write_text(json.dumps({"population": pair, "channel": channel}))
    once = [{"name": "first", "dp_epsilon": 0.1}, {"name": "second", "dp_epsilon": 0.2}]
    Path("releases.json").write_text(json.dumps({"population": pair, "releases": once}))
    ran(shlex.split("bayesdp release heights.toml --certificate heights-e59eb7cd.certificate.json"))
    ran(shlex.split("bayesdp release wheeze.toml --certificate wheeze-4b0e12c9.certificate.json"))
    Path("ledger.db").rename("spent.db")  # the budget of this study is one release
    book = Ledger("ledger.db", level=level)
    for month in ("january", "february"):
        book.register(month, "row", Reading("dp", 1.0))
    paths = [path for path, command in commands() if not hasattr(command, "commands")]
    first = [("key", "new"), ("ledger", "register")]
    last = [("release",), ("ledger", "show"), ("ledger", "share")]  # after which nobody else may
    others = [path for path in paths if path not in first + last]
    assert len(others) + 5 == len(paths)
    for path in [*first, *others, *last]:
        ran(example(path))


def ran(words: list[str]) -> None:
    result = CliRunner().invoke(app, words[1:])
    assert result.exit_code == 0, (words, result.output)


@pytest.mark.parametrize(
    ("typed", "offered"),
    [("bayesdp che", "check"), ("bayesdp ledger reg", "register"), ("bayesdp --inst", "--install")],
)
def test_the_shell_completes_commands_and_options(typed: str, offered: str) -> None:
    words = typed.split()
    asked = {
        "_BAYESDP_COMPLETE": "complete_bash",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(words) - 1),
    }
    result = CliRunner().invoke(app, [], prog_name="bayesdp", env=asked)
    assert offered in result.stdout
