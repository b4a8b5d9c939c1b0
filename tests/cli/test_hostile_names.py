"""Names that would act on whoever reads them are refused, or shown as letters.

HTML, colours of a terminal, marks of direction, and markup of the library that prints tables: in
every text of a study, in names of files and columns, in reports, figures, certificates and errors.
"""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bayesdp.cli import app
from bayesdp.errors import InputError
from tests.effort import in_full
from tests.golden.cases import PEOPLE, PEOPLE_CSV

ESCAPE, TURNED, NULL = "\x1b[31m", "\u202e", "\0"
HIDDEN = {
    "a colour": f"{ESCAPE}red",
    "a title": "\x1b]0;title\x07",
    "right to left": f"a{TURNED}b",
    "an isolate": "a\u2066b\u2069",
    "no width": "a\u200bb",
    "a line": "a\nb",
    "a return": "a\rb",
    "a separator": "a\u2028b",
    "a backspace": "a\bb",
    "C1": "a\x9b31mb",
    "a tag": "a\U000e0041b",
}
VISIBLE = {
    "a script": "<script>alert(1)</script>",
    "an attribute": "\" onload='alert(1)' x=\"",
    "an image": "<img src=x onerror=alert(1)>",
    "an entity": "&lt;b&gt; &amp;",
    "markup": "[red]x[/red][link=file:///etc]y[/link]",
    "closing markup": "[/]",
    "a closing title": "</title></svg><script>alert(1)</script>",
    "a formula": "=HYPERLINK(1)",
}
PLACES = {
    "data set": 'dataset = "people"',
    "a column": 'height = { bounds = [120, 220], unit = "cm" }',
    "unit": 'unit = "cm"',
    "state": '{ states = ["yes", "no"] }',
    "group": '{ public = true, states = ["child", "parent"] }',
    "source": 'source = "a survey of 1990"',
    "query": 'name = "mean height"',
    "analyst": "epsilon = 3.0",
    "scenario": 'column = "height"\n',
}


def text(value: str) -> str:
    """A text as TOML writes it."""
    return json.dumps(value).replace("\x7f", "\\u007f")


def written(place: str, value: str) -> str:
    """The study of people with this text in one place, and queries that show all of them."""
    study = PEOPLE.replace('covers = ["height", "smokes"]', 'covers = ["height", "smokes"]\n')
    study += '\n[[query]]\nname = "by"\nkind = "mean"\ncolumn = "height"\nby = "role"\n'
    study += '\n[[query]]\nname = "table"\nkind = "histogram"\ncolumn = "smokes"\n'
    old, quoted = PLACES[place], text(value)
    new = {
        "data set": f"dataset = {quoted}",
        "a column": f"{quoted} = {{ bounds = [0, 9] }}\n{old}",
        "unit": f"unit = {quoted}",
        "state": f'{{ states = [{quoted}, "yes", "no"] }}',
        "group": f'{{ public = true, states = [{quoted}, "child", "parent"] }}',
        "source": f"source = {quoted}",
        "query": f"name = {quoted}",
        "analyst": f"epsilon = 3.0\nanalyst = {quoted}",
        "scenario": f"{old}\n[[stress]]\nname = {quoted}\npopulation = {{ model = 'clusters', "
        "size = 4 }\n",
    }[place]
    assert old in study
    return study.replace(old, new, 1)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text(PEOPLE_CSV)


def outputs() -> list[str]:
    """What commands print and write about the study; a release may be refused."""
    texts = []
    for command in (
        ["check", "s.toml", "--verbose", "--data"],
        ["check", "s.toml", "--stress", "--figure", "f.svg"],
        ["explain", "s.toml"],
        ["release", "s.toml", "--report", "r.html", "--certificate", "c.json"],
        ["release", "s.toml", "--json"],
        ["verify", "c.json"],
        ["explain", "c.json"],
        ["ledger", "show"],
    ):
        result = CliRunner().invoke(app, command, env={"COLUMNS": "300"})
        assert isinstance(result.exception, SystemExit | None), command
        texts += [result.stdout, result.stderr]
    pages = [Path(name) for name in ("r.html", "f.svg") if Path(name).exists()]
    for page in pages:
        _assert_harmless(page.read_text(encoding="utf-8"))
    return [*texts, *(page.read_text(encoding="utf-8") for page in pages)]


def _assert_harmless(page: str) -> None:
    """Of the tags of a page none is a script, and none has an attribute that acts."""
    for tag in re.findall(r"<[a-zA-Z/][^>]*>", page):
        assert not re.search(r"<script|<img|onerror|onload|href=\"(?!#)", tag, re.I), tag


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", HIDDEN if in_full() else ["a colour", "right to left"])
def test_letters_that_hide_or_turn_text_never_reach_a_reader(kind: str, place: str) -> None:
    value = HIDDEN[kind]
    Path("s.toml").write_text(written(place, value), encoding="utf-8")
    hostile = [letter for letter in value if not letter.isprintable()]
    for shown in outputs():
        assert value not in shown, (kind, place)
        for letter in hostile:
            assert letter in "\n\r" or letter not in shown, (kind, place, shown)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", VISIBLE if in_full() else ["markup", "a closing title"])
def test_html_and_markup_are_shown_as_letters(kind: str, place: str) -> None:
    value = VISIBLE[kind]
    Path("s.toml").write_text(written(place, value), encoding="utf-8")
    texts = outputs()
    written_as = (value, text(value), repr(value), html.escape(value))
    assert any(form in shown for shown in texts for form in written_as), (kind, place)


@pytest.mark.parametrize("kind", HIDDEN)
def test_names_in_errors_are_shown_as_letters(kind: str) -> None:
    value = HIDDEN[kind]
    quoted = text(value)
    hostile = {letter for letter in value if not letter.isprintable()} - {"\n", "\r"}
    for study in (
        PEOPLE.replace("n = 6", f"n = 6\n{quoted} = 1"),
        PEOPLE.replace("[data]", f"{quoted} = 1\n[data]"),
        PEOPLE.replace('unit = "cm"', f'unit = "cm", {quoted} = 1'),
        PEOPLE.replace("size = 3", f"size = {quoted}"),
        PEOPLE.replace("size = 3", f"{quoted} = 3"),
        PEOPLE.replace('column = "height"', f"column = {quoted}"),
        PEOPLE.replace('kind = "mean"', f"kind = {quoted}"),
        PEOPLE.replace('kind = "mean"', f'kind = "mean"\nwhere = {quoted}'),
        PEOPLE.replace('source = "people.csv"', f"source = {quoted}"),
        PEOPLE.replace("epsilon = 3.0", f"epsilon = 3.0\nledger = {quoted}"),
        PEOPLE.replace("epsilon = 3.0", f"epsilon = 3.0\n{quoted} = 3"),
    ):
        Path("s.toml").write_text(study, encoding="utf-8")
        for command in (
            *(["ledger", "register", "s.toml"], ["check", "s.toml"]),
            *(["release", "s.toml"], ["explain", "s.toml"]),
        ):
            result = CliRunner().invoke(app, command)
            assert isinstance(result.exception, SystemExit | None), command
            shown = result.stdout + result.stderr
            assert not hostile & set(shown), (kind, shown)


@pytest.mark.parametrize("kind", HIDDEN)
def test_arguments_and_files_are_shown_as_letters(kind: str) -> None:
    value = HIDDEN[kind]
    hostile = {letter for letter in value if not letter.isprintable()} - {"\n", "\r"}
    population = json.dumps({"model": value, value: 1})
    names = json.dumps({"model": "tree", "nodes": [{"name": value, "law": [0.5, 0.5]}]})
    certificate = json.dumps({"format": "bayesdp-certificate", "version": 1, value: value})
    Path("c.json").write_text(certificate)
    Path("t.csv").write_text(f"x,{value.replace(chr(10), ' ')}\n1,2\n", encoding="utf-8")
    Path("p.py").write_text(f"# {value}\nfrom bayesdp.programs import program\n", encoding="utf-8")
    commands = [
        ["check", value],
        ["check", f"{value}.toml"],
        ["leakage", population, "--epsilon", "1"],
        ["leakage", names, "--epsilon", "1"],
        ["leakage", '{"model":"clusters","size":2}', "--epsilon", value],
        ["leakage", '{"model":"clusters","size":2}', "--epsilon", "1", "--adversary", value],
        ["verify", "c.json"],
        ["explain", "c.json"],
        ["fit", "t.csv", "--model", "markov", "--column", "nowhere", "--length", "3"],
        ["program", "check", "p.py"],
        ["program", "check", f"p.py:{value}"],
        ["notions", "--given", f"{value}=1"],
        ["ledger", "show", "--ledger", value],
        ["key", "new", f"{value.replace('/', '')}.key"],
        ["key", "new", f"{value.replace('/', '')}.key"],
        [value],
    ]
    for command in commands:
        result = CliRunner().invoke(app, command)
        assert isinstance(result.exception, SystemExit | None), command
        shown = result.stdout + result.stderr
        assert not hostile & set(shown), (kind, command, shown)


@pytest.mark.parametrize("kind", HIDDEN)
def test_errors_in_python_are_shown_as_letters_too(kind: str) -> None:
    value = HIDDEN[kind]
    error = InputError(f"data.{value}", value, expected=f"no {value}", remedy=f"Drop {value}.")
    hostile = {letter for letter in value if not letter.isprintable()} - {"\n"}
    assert not hostile & set(str(error))
    assert str(InputError("a", 1, expected="two\nlines")) == "a is 1: expected two\nlines."
