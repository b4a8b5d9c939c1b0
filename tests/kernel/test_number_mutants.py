"""Mutants of numbers, comparisons and sums of the kernel's rules: a certificate shows them.

Which are asked is fixed by their names, as a share of all: code that is changed elsewhere changes
nothing here. They are shown the honest certificates and lies of stories, the steps that just meet
a hypothesis or just don't, populations that show a hypothesis or don't, and steps of random
numbers.
"""

from __future__ import annotations

import hashlib

import pytest

from tests.effort import complete
from tests.kernel import hypothesis_stories, number_steps, step_stories, test_number_oracles
from tests.kernel.battery import Shown, battery
from tests.kernel.mutants import Mutant, mutants
from tests.kernel.number_survivors import NOT_SHOWN, SEEN_ELSEWHERE, SURVIVING
from tests.kernel.reached import Certificates
from tests.kernel.survivors import EQUIVALENT
from tests.kernel.test_mutants import caught

KINDS = frozenset({"constant", "less", "doubled", "shifted", "sum", "turned"})
EVERY = 40
"""One of so many mutants is asked about."""


def in_question() -> list[Mutant]:
    """Numbers one more, one less or doubled; `<` for `<=`, `+` for `-`, `min` for `max`.

    Limits of effort are left out: they stand in modules as constants, which are named `MOST`.
    """
    return [
        mutant
        for mutant in mutants()
        if mutant.kind in KINDS and not mutant.of_module and "MOST" not in mutant.change
    ]


def chosen() -> list[Mutant]:
    """The sample, without those that are explained elsewhere."""
    return [item for item in in_question() if _drawn(item) and item.name not in EQUIVALENT]


def _drawn(mutant: Mutant) -> bool:
    return int(hashlib.sha256(mutant.name.encode()).hexdigest(), 16) % EVERY == 0


def test_there_are_enough_and_each_survivor_is_in_the_sample() -> None:
    names = {mutant.name for mutant in chosen()}
    assert len(in_question()) >= 4000
    assert len(names) >= 100
    assert {mutant.kind for mutant in chosen()} == KINDS
    explained = [*SURVIVING, *SEEN_ELSEWHERE, *NOT_SHOWN]
    assert names >= set(explained)
    assert len(set(explained)) == len(explained) < len(names) / 2
    assert all(hasattr(test_number_oracles, test) for test in SEEN_ELSEWHERE.values())
    assert all(len(reason) > 30 for reason in SURVIVING.values())


@pytest.mark.prove
@pytest.mark.skipif(not complete(), reason="asked by `make prove`")
def test_numbers_comparisons_and_sums_are_seen() -> None:
    steps = [*number_steps.documents(), *step_stories.documents()]
    shown = [*(Shown(step, None) for step in steps), *battery(whole=False)]
    shown += [Shown(*case) for case in hypothesis_stories.documents()]
    certificates = Certificates(shown)
    passed_over = SURVIVING.keys() | SEEN_ELSEWHERE.keys() | NOT_SHOWN
    asked = [mutant for mutant in chosen() if mutant.name not in passed_over]
    survivors = [item.name for item in asked if not caught(item, certificates.showing(item))]
    assert not survivors
