"""Ten rules and more of each newer construct are made wrong, and each is shown by its probe."""

from __future__ import annotations

import pytest

from bayesdp.programs.run.draws import noise
from tests.programs import construct_probes
from tests.programs.construct_edits import ABOVE_THRESHOLD, DIRICHLET, OF_ROWS
from tests.programs.edits import Edit, edited
from tests.programs.model_edits import LAWS, POOLING

EDITS: dict[str, dict[str, Edit]] = {
    "above_threshold": ABOVE_THRESHOLD,
    "Dirichlet candidates": DIRICHLET,
    "persons": OF_ROWS,
    "laws": LAWS,
    "pooling": POOLING,
}
"""The wrong rules of each construct, by name."""
NAMED = [
    pytest.param(edit, id=f"{construct}: {name}")
    for construct, edits in EDITS.items()
    for name, edit in edits.items()
]


@pytest.mark.parametrize("edit", NAMED)
def test_a_wrong_rule_is_shown_by_its_probe(edit: Edit) -> None:
    edit.probe()
    with edited(edit), pytest.raises(AssertionError):
        edit.probe()


def test_there_are_ten_of_each_and_none_twice() -> None:
    every = [edit for edits in EDITS.values() for edit in edits.values()]
    assert all(len(edits) >= 10 for edits in EDITS.values())
    assert len({(edit.room, edit.old, edit.new) for edit in every}) == len(every)
    assert all(len(edit.places) == 1 for edit in every)


def test_a_change_is_seen_everywhere_and_taken_back() -> None:
    constant = ABOVE_THRESHOLD["noise on a query is counted once"]
    function = ABOVE_THRESHOLD["above is not at least"]
    kept = noise.OF_QUERY
    for edit in (constant, function):
        with edited(edit):
            assert (kept != noise.OF_QUERY) is (edit is constant)
            with pytest.raises(AssertionError):
                edit.probe()
        edit.probe()
        assert noise.OF_QUERY is kept
    construct_probes.searches_are_hidden("(count(r for r in db if r.b),)")
