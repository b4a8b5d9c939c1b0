"""The pages about relations are those that the registry gives."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bayesdp.theorems.relations import RELATIONS
from tests.oracles.counterexamples import COUNTEREXAMPLES
from tools import check_docs, make_relations

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", make_relations.PAGES)
def test_a_page_is_not_stale(name: str):
    stored = (ROOT / name).read_text(encoding="utf-8")
    assert stored == make_relations.PAGES[name](), "run python -m tools.make_relations"


def test_every_arrow_is_drawn_and_leads_to_its_proof_and_test():
    page = (ROOT / "docs/relations.md").read_text(encoding="utf-8")
    proofs = check_docs.anchors(ROOT / "docs/theory.md")
    drawing = page.split("```")[1]
    for relation in RELATIONS:
        tail, head = (key.replace("-", "_") for key in (relation.premise, relation.conclusion))
        assert re.search(rf"^  {tail} [-=]+>\|.*\| {head}$", drawing, re.M), relation.name
        assert relation.anchor in proofs
        assert f"theory.md#{relation.anchor})" in page
        assert (ROOT / relation.test).exists()
        assert f"(../{relation.test})" in page
        for hypothesis in relation.hypotheses:
            assert f'<a id="{hypothesis}"></a>' in page


def test_every_missing_arrow_leads_to_a_model_that_runs():
    page = (ROOT / "docs/relations.md").read_text(encoding="utf-8")
    gallery = (ROOT / "docs/counterexamples.md").read_text(encoding="utf-8")
    for example in COUNTEREXAMPLES:
        assert f"(counterexamples.md#{example.name})" in page
        assert f"\n## {example.name}\n" in gallery
        assert example.refutes(example.levels())
