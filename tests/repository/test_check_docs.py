"""The check of the documentation finds what it is there to find."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_docs", ROOT / "tools" / "check_docs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "check_docs", module)
    spec.loader.exec_module(module)
    (tmp_path / "src/bayesdp/demo_data").mkdir(parents=True)
    (tmp_path / "src/bayesdp/demo_data/some.csv").write_text("a\n1\n")
    (tmp_path / "other.md").write_text("# A heading, once\n")
    programs = tmp_path / "bin"
    programs.mkdir()
    fake = programs / "bayesdp"
    fake.write_text('#!/bin/sh\necho "spent 1.0"\nexit "${1:-0}"\n')
    fake.chmod(0o755)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module.sys, "executable", str(programs / "python"))
    return module


GOOD = [
    "[there](other.md), [its heading](other.md#a-heading-once), [out](https://example.org)",
    "# Here\n[up](#here) and `[code](nowhere.md)` and $x[a](b)$",
    "```text\n[not a link](nowhere.md)\n```",
    "```python\nx = 1\n```\n```python\n>>> y = x + 1\n```\n```python\nassert y == 2\n```",
    "```toml study.toml\na = 1\n```\n"
    "```python\nfrom pathlib import Path\nassert Path('study.toml').read_text() == 'a = 1\\n'\n```",
    "```console\n$ bayesdp\nspent ...\n$ bayesdp 1  # exits with 1\n$ make coffee\n```",
    "```console\n$ bayesdp \\\n  0\n```",
    "```console\n$ cp src/bayesdp/demo_data/some.csv .\n$ rm some.csv\n$ make some.csv\n```",
    "```console\n$ cp src/bayesdp/demo_data/some.csv .\n```\n"
    "```python\nopen('some.csv').close()\n```",
]
BAD = {
    "```python\nopen('some.csv').close()\n```": "FileNotFoundError",
    "```console\n$ cp some.csv other.csv\n```": "exit status 1, not 0",
    "[x](nowhere.md)": "x.md:1: the link nowhere.md leads nowhere",
    "\n[x](other.md#another)": "x.md:2: the link other.md#another names a heading",
    "```python\n1 / 0\n```": "ZeroDivisionError",
    "```python\n>>> 1 + 1\n3\n```": "Expected:\n    3\nGot:\n    2",
    "```json\n{\n```": "the json does not parse",
    "```toml\na = \n```": "the toml does not parse",
    "```console\n$ make it\n$ bayesdp 1\n```": "(line 3) exit status 1, not 0",
    "```console\n$ bayesdp  # exits with 1\n```": "exit status 0, not 1",
    "```console\n$ bayesdp\nspent 2.0\n```": "shows another output",
    "```bash\nbayesdp\n```": "commands belong in a console block",
}


@pytest.mark.parametrize("text", GOOD)
def test_good_pages_pass(docs: ModuleType, tmp_path: Path, text: str) -> None:
    page = tmp_path / "x.md"
    page.write_text(text)
    assert list(docs.check(page)) == []


@pytest.mark.parametrize(("text", "finding"), BAD.items())
def test_bad_pages_are_found(docs: ModuleType, tmp_path: Path, text: str, finding: str) -> None:
    page = tmp_path / "x.md"
    page.write_text(text)
    (problem,) = docs.check(page)
    assert finding in problem
