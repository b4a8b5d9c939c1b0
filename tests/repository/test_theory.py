"""docs/theory.md is what the template and the theorems' docstrings give, and proves all of them."""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

import pytest

from bayesdp.notions import ROUNDING_IN_WORDS
from bayesdp.statements.assumptions import ROUNDING
from bayesdp.theorems import REGISTRY, markov_count
from bayesdp.theorems.relations import RELATIONS
from tools import make_theory


def test_the_page_is_not_stale() -> None:
    assert make_theory.main(["--check"]) == 0, "run python tools/make_theory.py"


def test_every_theorem_is_proved_once_and_in_its_file() -> None:
    named = [(each.file, each.name) for each in make_theory.statements()]
    assert len(set(named)) == len(named)
    files = {file for file, name in named if not name}
    owners = {theorem.name: sys.modules[type(theorem).__module__] for theorem in REGISTRY}
    for name, module in owners.items():
        file = f"theorems/{Path(str(module.__file__)).name}"
        assert file in files, f"docs/theory.md.in names no place for {file}"
        assert f"`{name}`" in make_theory.proof(file)
    assert f"`{markov_count.NAME}`" in make_theory.proof("theorems/markov_count.py")


CITED = re.compile(r"theory (\d+\.\d+[a-z]?(?: [a-z]\d?)?)$")
SOURCES = {theorem.name: theorem.source for theorem in REGISTRY} | {
    markov_count.NAME: markov_count.SOURCE
}


def test_no_two_sections_have_one_number() -> None:
    numbers = Counter(section.number for section in make_theory.sections(make_theory.page()))
    assert {number: count for number, count in numbers.items() if count > 1} == {}


def test_each_theorem_names_the_section_that_states_it_and_no_other_theorem() -> None:
    sections = make_theory.sections(make_theory.page())
    stated = {section.number: section.theorems for section in sections if section.theorems}
    cited = {}
    for name, source in SOURCES.items():
        match = CITED.search(source)
        assert match, f"{name}: {source!r} doesn't end with its section of docs/theory.md"
        cited[match[1]] = (name,)
    assert cited == stated


def test_a_rule_of_the_kernel_cites_the_section_of_its_theorem() -> None:
    folder = make_theory.ROOT / "src" / "bayesdp" / "kernel" / "rules"
    for name, source in SOURCES.items():
        section = source.rpartition("theory ")[2]
        first = (folder / f"{name.replace('-', '_')}.py").read_text(encoding="utf-8").split("\n")[0]
        assert re.search(rf"[( ]{re.escape(section)}[,)]", first), (name, section, first)


def test_all_statements_stand_beside_their_code() -> None:
    """What the template keeps is headings and what they are about: it states and proves nothing."""
    kept = make_theory.THEOREM.sub("", make_theory.template())
    assert not re.search(r"∎|\*Proof|^\*\*", kept, re.MULTILINE)


def test_every_numbered_statement_is_in_the_index_with_its_code_and_tests() -> None:
    page = make_theory.page()
    table = page[page.index("| Section |") : page.index("## Sources")]
    listed = make_theory.sections(page)
    proved = {
        section.number
        for section, text in zip(listed, _texts(page, listed), strict=True)
        if re.search(r"∎|\*Proof", text)
    }
    assert {"2.1", "2.10", "3.4f", "3.9 b", "4", "5.1 d", "7", "8.1", "8.6"} <= proved
    chapters = {section.number for section in listed if "." not in section.number}
    with_sections = {section.number[0] for section in listed if "." in section.number}
    headings_only = chapters & with_sections - proved
    assert headings_only == {"2", "3", "5", "8"}
    for number in {section.number for section in listed} - headings_only:
        assert re.search(rf"^\| \[{re.escape(number)}\]\(#", table, re.MULTILINE), number
    for link in re.findall(r"\]\(\.\./([^)]+)\)", table):
        assert (make_theory.ROOT / link).is_file(), link
    rows = table.splitlines()[2:]
    for row in filter(None, rows):
        code, tests = row.split(" | ")[2:]
        assert "(../src/bayesdp/" in code or "(../tests/oracles/" in code, row
        assert "(../tests/" in tests, row


def _texts(page: str, listed: list[make_theory.Section]) -> list[str]:
    places = [heading.end() for heading in make_theory.HEADING.finditer(page)]
    assert len(places) == len(listed)
    return [page[start:end] for start, end in zip(places, [*places[1:], len(page)], strict=True)]


@pytest.mark.parametrize(
    ("marker", "complaint"),
    [
        ("<!-- theorem: theorems/independent.py -->", "names no test"),
        (
            "<!-- theorem: theorems/independent.py (tests/no_such.py) -->",
            "there is no tests/no_such",
        ),
        (
            "<!-- theorem: theorems/none.py (tests/chance.py) -->",
            "there is no src/bayesdp/theorems",
        ),
        ("<!-- theorem: numbers.py:down (tests/chance.py) -->", "numbers.py:down has no docstring"),
        ("<!-- theorem: numbers.py:none (tests/chance.py) -->", "numbers.py:none has no docstring"),
    ],
)
def test_a_marker_without_code_or_test_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, marker: str, complaint: str
) -> None:
    template = tmp_path / "theory.md.in"
    template.write_text(f"## 1. All\n\n{marker}\n", encoding="utf-8")
    monkeypatch.setattr(make_theory, "TEMPLATE", template)
    with pytest.raises(ValueError, match=complaint):
        make_theory.page()


def test_the_page_and_reports_say_of_rounding_what_certificates_say() -> None:
    assert f'"{ROUNDING}"' in " ".join(make_theory.page().split())
    assert ROUNDING in ROUNDING_IN_WORDS


def test_every_relation_is_proved_in_its_file() -> None:
    folder = Path(str(sys.modules["bayesdp.theorems.relations"].__file__)).parent
    proofs = {
        path.name: path.read_text(encoding="utf-8").split('"""')[1] for path in folder.glob("*.py")
    }
    for relation in RELATIONS:
        homes = [name for name, text in proofs.items() if f'<a id="{relation.name}"></a>' in text]
        assert len(homes) == 1, (relation.name, homes)


def test_sections_are_read_with_their_letters_and_their_theorems() -> None:
    stated = "**Statement** (theorem `{}`{}).\n\n"
    page = (
        f"## 3. All\n\n### 3.7b Loops\n\n{stated.format('loops', '')}### Frame\n\n"
        f"### 3.8 Normal\n\n#### a2. Equal\n\n{stated.format('equal', '')}"
        f"#### b. Known\n\n{stated.format('equal', ', known')}## 4. More\n\nend\n"
    )
    read = make_theory.sections(page)
    assert read == [
        make_theory.Section("3", "3. All"),
        make_theory.Section("3.7b", "3.7b Loops", ("loops",)),
        make_theory.Section("3.8", "3.8 Normal"),
        make_theory.Section("3.8 a2", "a2. Equal", ("equal",)),
        make_theory.Section("3.8 b", "b. Known"),
        make_theory.Section("4", "4. More"),
    ]
    assert make_theory.by_name(read).splitlines()[1:] == [
        "[`equal`](#a2-equal) 3.8 a2 ·",
        "[`loops`](#37b-loops) 3.7b.",
    ]


def test_a_stale_page_and_an_empty_docstring_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "theory.md"
    page.write_text(make_theory.page() + "more", encoding="utf-8")
    monkeypatch.setattr(make_theory, "PAGE", page)
    assert make_theory.main(["--check"]) == 1
    assert "stale" in capsys.readouterr().err
    assert make_theory.main([]) == make_theory.main(["--check"]) == 0
    with pytest.raises(ValueError, match="no docstring with a statement"):
        make_theory.proof("theorems/zeros.py")
