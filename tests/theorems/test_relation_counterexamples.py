"""The gallery of what does not follow: every number, by the engine and from the definition."""

from __future__ import annotations

import numpy as np
import pytest

from bayesdp.notions.catalogue import CATALOGUE
from bayesdp.theorems.relations import RELATIONS
from tests.oracles import counterexamples as gallery
from tests.oracles import finite
from tests.oracles.counterexamples import COUNTEREXAMPLES, Counterexample

LEVELS = {
    "dp-without-bdp": {"dp": 1.0, "bdp": 2.0},
    "uninformed-without-any": {"uninformed": 0.0, "any": 3.0},
    "least-informed-is-not-worst": {"uninformed": 4.0000, "knows two": 4.5237},
    "levels-do-not-add": {"one": 3.0910, "two": 7.3607},
    "small-levels-do-not-add": {"one": 0.50078, "two": 1.03407},
    "uninformed-levels-do-not-add": {"first": 0.0, "second": 1.0, "together": 1.8912},
    "parallel-is-not-the-maximum": {"first": 1.0, "second": 1.0, "together": 2.0},
    "independent-given-the-others": {"dp": 1.0, "seen": 3.0},
    "bdp-without-dp": {"bdp": 0.0, "dp": 5.0},
    "correlated-beliefs": {"bdp": 1.0, "mp": 1.93807},
    "one-belief": {"mp": 1.0, "bdp": 2.0},
    "effects-in-one-population": {"do": 0.0, "dp": 3.0},
    "seeing-is-not-doing": {"do": 1.0, "see": 3.0},
    "an-edge-between-records": {"dp": 1.0, "do": 1.77614},
    "a-secret-of-two-records": {"bdp": 1.0, "household": 2.0},
}


@pytest.mark.parametrize("example", COUNTEREXAMPLES, ids=lambda example: example.name)
def test_the_levels_refute_the_claim(example: Counterexample):
    reached = example.levels()
    assert example.refutes(reached)
    assert dict(reached) == pytest.approx(LEVELS[example.name], abs=6e-5)


@pytest.mark.parametrize("example", COUNTEREXAMPLES, ids=lambda example: example.name)
def test_lower_levels_would_not(example: Counterexample):
    """`refutes` says no where everything is at the same level: it looks at the numbers."""
    assert not example.refutes(dict.fromkeys(example.levels(), 1.0))


def test_every_example_is_listed_here():
    assert [example.name for example in COUNTEREXAMPLES] == list(LEVELS)


def test_missing_arrows_are_no_relations_without_hypotheses():
    free = {
        (relation.premise, relation.conclusion) for relation in RELATIONS if not relation.hypotheses
    }
    free -= {(relation.premise, relation.conclusion) for relation in RELATIONS if relation.converts}
    for example in COUNTEREXAMPLES:
        if example.missing is not None:
            assert set(example.missing) <= set(CATALOGUE)
            assert example.missing not in free


def test_the_mechanisms_are_mechanisms():
    for records in (1, 2, 3):
        count = gallery.noisy_count(records, 1.0)
        assert count.sum(axis=-1) == pytest.approx(np.ones((2,) * records))
        assert finite.dp_level(count) == pytest.approx(1.0)
        response = gallery.each(records, 0.7)
        assert response.sum(axis=-1) == pytest.approx(np.ones((2,) * records))
        assert finite.dp_level(response) == pytest.approx(0.7)


def test_levels_agree_with_the_definition():
    """The oracle integrates case by case and knows no tensor."""
    twice = gallery.channel(2, lambda x: gallery.hit(11.0 ** sum(x) / 242.0))
    joint = gallery.law((2, 2), {(0, 0): 9.0, (0, 1): 9.0, (1, 1): 1.0})
    both = gallery.both(twice, twice)
    assert finite.leakage(joint, twice)[0] == pytest.approx(np.log(22.0))
    assert finite.leakage(joint, both)[0] == pytest.approx(np.log(1573.0))
    count = gallery.noisy_count(3, 1.0)
    assert finite.leakage(gallery.identical(3), count, "uninformed")[0] == pytest.approx(3.0)
    # any two records are independent given the third: its value decides both
    three = gallery.identical(3)
    for third in (0, 1):
        given = three[:, :, third] / three[:, :, third].sum()
        assert given == pytest.approx(np.outer(given.sum(axis=1), given.sum(axis=0)))
    differ = gallery.channel(2, lambda x: gallery.randomized(x[0] ^ x[1], 3.0))
    assert finite.leakage(gallery.fair(2), differ, "uninformed")[0] == pytest.approx(0.0, abs=1e-12)
    assert finite.leakage(gallery.fair(2), differ)[0] == pytest.approx(3.0)
