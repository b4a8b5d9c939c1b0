"""docs/theory.md is what the template and the theorems' docstrings give, and proves all of them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bayesdp.theorems import REGISTRY
from bayesdp.theorems.markov_count import NAME
from bayesdp.theorems.relations import RELATIONS
from tools import make_theory


def test_the_page_is_not_stale() -> None:
    assert make_theory.main(["--check"]) == 0, "run python tools/make_theory.py"


def test_every_theorem_is_proved_once_and_in_its_file() -> None:
    files = make_theory.THEOREM.findall(make_theory.TEMPLATE.read_text(encoding="utf-8"))
    assert len(set(files)) == len(files)
    owners = {theorem.name: sys.modules[type(theorem).__module__] for theorem in REGISTRY}
    for name, module in owners.items():
        file = f"theorems/{Path(str(module.__file__)).name}"
        assert file in files, f"docs/theory.md.in names no place for {file}"
        assert f"`{name}`" in make_theory.proof(file)
    assert f"`{NAME}`" in make_theory.proof("theorems/markov_count.py")


def test_every_relation_is_proved_in_its_file() -> None:
    folder = Path(str(sys.modules["bayesdp.theorems.relations"].__file__)).parent
    proofs = {
        path.name: path.read_text(encoding="utf-8").split('"""')[1] for path in folder.glob("*.py")
    }
    for relation in RELATIONS:
        homes = [name for name, text in proofs.items() if f'<a id="{relation.name}"></a>' in text]
        assert len(homes) == 1, (relation.name, homes)


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
        make_theory.proof("theorems/markov.py")
