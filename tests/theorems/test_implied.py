"""What follows from given levels: the best paths, hypotheses asked for, nothing that is false."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import bayesdp
from bayesdp.errors import InputError
from bayesdp.leakage.profile import profile
from bayesdp.notions.catalogue import CATALOGUE
from bayesdp.populations import (
    Autoregressive,
    Clusters,
    Family,
    Finite,
    Gaussian,
    Graph,
    Independent,
    MarkovChain,
    Population,
    Tree,
    Unknown,
)
from bayesdp.theorems.relations import RELATIONS
from bayesdp.theorems.relations.hypotheses import facts
from bayesdp.theorems.relations.search import Implications, implied
from tests.effort import runs
from tests.theorems.test_relations import SIZE, level, model_for

CHAIN = MarkovChain(transition=((0.9, 0.1), (0.1, 0.9)), length=100)
TWINS = Finite(probabilities=((0.5, 0.0), (0.0, 0.5)))


def levels(implications: Implications) -> dict[str, float]:
    return {consequence.notion: consequence.level for consequence in implications.implied}


def relations(implications: Implications, notion: str) -> list[str]:
    return [step.relation for step in implications[notion].path]


def test_from_bdp_on_a_positive_chain():
    consequence = implied({"bdp": 1.0}, CHAIN)
    assert levels(consequence) == pytest.approx(
        {
            "dp": 1.0,
            "strong-dp": 1.0,
            "group-dp": 100.0,
            "bdp": 1.0,
            "bdp-uninformed": 1.0,
            "bdp-informed": 1.0,
            "independent-bdp": 1.0,
            "sp": math.tanh(0.5),
            "bsp": math.tanh(0.5),
            "mp": 1.0,
        }
    )
    assert relations(consequence, "bdp") == []
    assert relations(consequence, "bsp") == ["bdp-to-bsp"]
    assert relations(consequence, "sp") == ["bdp-to-dp", "dp-to-sp"]
    assert consequence["dp"].path[0].hypotheses == (("full-support", "derived"),)
    assert consequence["bsp"].published == 1.0  # e^2 - 1 says nothing
    assert bayesdp.implied is implied


def test_from_bdp_alone_nothing_is_assumed():
    consequence = implied({"bdp": 1.0})
    assert set(levels(consequence)) == {"bdp", "bdp-uninformed", "bdp-informed", "bsp", "mp"}
    needs = {(need.notion, need.needs): need.level for need in consequence.needs}
    assert needs["dp", ("full-support",)] == 1.0
    assert needs["pufferfish", ("record-secrets",)] == 1.0
    assert ("dp", ("mutual-independence",)) not in needs
    declared = implied({"bdp": 1.0}, assume=["full-support"])
    assert levels(declared)["dp"] == 1.0
    assert declared["dp"].path[0].hypotheses == (("full-support", "declared"),)


def test_from_dp_by_the_populations_conversion():
    consequence = implied({"dp": 0.5}, CHAIN)
    assert consequence["bdp"].level == CHAIN.leakage(0.5).best.epsilon
    assert (
        consequence["bdp-uninformed"].level
        == CHAIN.leakage(0.5, adversary="uninformed").best.epsilon
    )
    assert consequence["bdp-informed"].level == 0.5
    assert consequence["bdp"].path[0].theorem == "markov-recursion"
    assert consequence["bsp"].level == pytest.approx(math.tanh(consequence["bdp"].level / 2))
    alone = implied({"dp": 0.5})
    assert "bdp" not in alone
    assert any(need.needs == ("population",) and need.notion == "bdp" for need in alone.needs)


def test_the_best_of_several_given_levels():
    consequence = implied({"bdp": 3.0, "dp": 0.5}, CHAIN)
    assert consequence["bdp"].level == 3.0
    assert consequence["dp"].level == 0.5
    assert consequence["sp"].start == "dp"
    assert consequence["mp"].start == "bdp"
    better = implied({"bdp": 4.0, "dp": 0.5}, CHAIN)
    assert better["bdp"].start == "dp"
    assert better["bdp"].level < 4.0


def test_a_level_for_every_population_is_not_that_of_one():
    """A conversion is about one population: no free lunch from it."""
    consequence = implied({"dp": 0.5}, CHAIN, ["every-population"])
    assert consequence["group-dp"].level == 50.0
    assert relations(consequence, "group-dp") == ["dp-to-group-dp"]
    given = implied({"bdp-uninformed": 0.5}, CHAIN, ["every-population"])
    assert given["group-dp"].level == 0.5
    assert given["dp"].level == 0.5
    effect = implied({"causal-do": 0.5, "bdp": 1.0}, CHAIN, ["causal-structure"])
    assert effect["dp"].level == 1.0
    known = ["causal-structure", "mutual-independence"]
    back = implied({"bdp-uninformed": 0.5}, Independent(), [*known, "every-population"])
    assert back["dp"].start == "bdp-uninformed"


def test_both_labels_of_a_notion_are_kept():
    """A level for every population is followed though a lower one for this one is known."""
    consequence = implied({"bdp-uninformed": 3.0, "dp": 0.3}, CHAIN, ["every-population"])
    assert consequence["bdp-uninformed"].start == "dp"
    assert consequence["bdp-uninformed"].level < 3.0
    assert consequence["group-dp"].level == 3.0
    assert consequence["group-dp"].start == "bdp-uninformed"


def test_without_full_support():
    consequence = implied({"bdp": 1.0}, TWINS)
    assert "dp" not in consequence
    assert not any("full-support" in need.needs for need in consequence.needs)  # it is refuted
    with pytest.raises(InputError, match="full-support"):
        implied({"bdp": 1.0}, TWINS, ["full-support"])


SUPPORT: list[tuple[Population, bool | None]] = [
    (CHAIN, True),
    (MarkovChain(transition=((1.0, 0.0), (0.5, 0.5)), length=3, initial=(0.5, 0.5)), False),
    (MarkovChain(transition=((0.5, 0.5), (0.5, 0.5)), length=3, initial=(1.0, 0.0)), False),
    (MarkovChain(transition_lower=((0.1, 0.2), (0.3, 0.1)),
                 transition_upper=((0.8, 0.9), (0.9, 0.7)), length=3), True),
    (MarkovChain(transition_lower=((0.0, 0.2), (0.3, 0.1)),
                 transition_upper=((0.8, 1.0), (0.9, 0.7)), length=3), False),
    (MarkovChain(order=2, transition=(((0.5, 0.5), (0.4, 0.6)), ((0.3, 0.7), (0.2, 0.8))),
                 length=5), True),
    (TWINS, False),
    (Gaussian(covariance=((1.0, 0.4), (0.4, 1.0))), True),
    (Gaussian(size=3, max_correlation=0.4), True),
    (Gaussian(size=3, max_correlation=0.6), False),
    (Autoregressive(coefficient=0.5, length=9), True),
    (Independent(), None),
    (Clusters(size=3), None),
    (Unknown(records=3), None),
    (Graph(grid=(2, 2), table=((2.0, 1.0), (1.0, 2.0)), states=2), True),
    (Graph(grid=(2, 2), table=((2.0, 0.0), (0.0, 2.0)), states=2), False),
    (Tree(nodes=({"name": "a", "law": (0.5, 0.5)},
                 {"name": "b", "parent": "a", "transition": ((0.5, 0.5), (0.0, 1.0))})), False),
    (Family(members=(CHAIN, CHAIN)), True),
    (Family(members=(CHAIN, MarkovChain(transition=((1.0, 0.0), (0.5, 0.5)), length=100,
                                        initial=(0.5, 0.5)))), False),
]  # fmt: skip


@pytest.mark.parametrize(("population", "answer"), SUPPORT)
def test_full_support_is_derived(population: Population, answer: bool | None):
    known = facts(population, (), 0, 2)
    assert ("full-support" in known.holds) == (answer is True)
    assert ("full-support" in known.refuted) == (answer is False)


@pytest.mark.parametrize("population", [Independent(), Clusters(size=1), Unknown(records=1)])
def test_single_records_are_independent(population: Population):
    consequence = implied({"independent-bdp": 0.7}, population)
    assert consequence["bdp"].level == 0.7
    assert ("mutual-independence", "derived") in consequence["bdp"].path[-1].hypotheses or (
        consequence["bdp"].path[-1].relation == "dp-to-bdp"
    )


def test_groups_come_from_the_population():
    assert implied({"dp": 0.7}, Clusters(size=3)).size == 3
    consequence = implied({"group-dp": 0.7}, Clusters(size=3), size=3)
    assert consequence["bdp"].level == 0.7
    small = implied({"group-dp": 0.7}, Clusters(size=3), size=2)
    assert small["bdp"].level == pytest.approx(2.1)  # 3 times the DP level; the group is too small
    assert implied({"dp": 0.7}).size == 2


def test_a_given_group_level_needs_its_size():
    """Else a level of pairs would pass for one of whatever groups the population has."""
    for population in (None, Clusters(size=6)):
        with pytest.raises(InputError, match="--size"):
            implied({"group-dp": 1.0}, population)
    pairs = implied({"group-dp": 1.0}, Clusters(size=6), size=2)
    assert pairs["bdp"].level == pytest.approx(6.0)


def test_a_given_semantic_level_needs_its_default():
    """Under default 2 this bsp is .012 and the bdp 3.9, which default 0 would call .048."""
    law = Finite(probabilities=[[0.3, 0.2, 0.1], [0.2, 0.01, 0.0], [0.19, 0.0, 0.0]])
    mechanism = np.full((3, 3, 2), 0.5)
    mechanism[1, 1] = 0.99, 0.01
    truth = profile(law, mechanism, 2)
    bsp, bdp = truth.levels["bsp"].level, truth.levels["bdp"].level
    assert bsp < 0.012
    assert bdp > 3.9
    for notion in ("sp", "bsp"):
        with pytest.raises(InputError, match=f"given {notion}.*--default"):
            implied({notion: bsp}, law)
    assert "bdp" not in implied({"bsp": bsp}, law, default=2)
    assert "bdp" not in implied({"bsp": bsp}, law, default=1)
    own = profile(law, mechanism, 0)
    assert implied({"bsp": own.levels["bsp"].level}, law, default=0)["bdp"].level >= bdp


def test_the_default_is_a_state():
    assert "sp" in implied({"dp": 1.0}, CHAIN, default=1)
    assert "sp" not in implied({"dp": 1.0}, CHAIN, default=2)
    assert "sp" not in implied({"dp": 1.0}, CHAIN, default=0.5)
    with pytest.raises(InputError, match="default-in-domain"):
        implied({"dp": 1.0}, CHAIN, ["default-in-domain"], default=2)
    assert "sp" in implied({"dp": 1.0}, assume=["default-in-domain"])
    assert "sp" in implied({"dp": 1.0}, assume=["default-possible"])
    assert "sp" in implied({"dp": 1.0}, Gaussian(covariance=((1.0, 0.1), (0.1, 1.0))), default=3.5)


def test_adversary_says_what_a_given_bdp_is():
    consequence = implied({"bdp": 1.0}, CHAIN, adversary="uninformed")
    assert "bdp" not in consequence
    assert consequence["bdp-uninformed"].level == 1.0
    assert levels(implied({"bdp": 1.0}, CHAIN, adversary="informed"))["dp"] == 1.0


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"bsp": 1.5}, "given.bsp"),
        ({"sp": -0.1}, "given.sp"),
        ({"dp": -1.0}, "given.dp"),
        ({"dp": math.inf}, "finite"),
        ({"dp": math.nan}, "finite"),
        ({"dp": True}, "finite"),
        ({"dp": "1"}, "finite"),
        ({"bpd": 1.0}, "Did you mean"),
        ({}, "at least one"),
    ],
)
def test_wrong_levels_are_named(given, said: str):
    with pytest.raises(InputError, match=said):
        implied(given, default=0)


WRONG = (
    {"size": 0},
    {"size": True},
    {"default": math.nan},
    {"default": math.inf},
    {"default": True},
    {"default": 10**400},
)


def test_other_wrong_arguments():
    for options in (*WRONG, {"adversary": "all"}):
        with pytest.raises(InputError):
            implied({"dp": 1.0}, **options)
    with pytest.raises(KeyError):
        implied({"dp": 1.0})["bdp"]


def test_a_level_that_promises_nothing_brings_nothing():
    consequence = implied({"bsp": 1.0}, CHAIN, default=0)
    assert set(levels(consequence)) == {"bsp"}
    assert levels(implied({"dp": 0.0}, CHAIN))["bdp"] == 0.0


def test_cycles_improve_nothing():
    """Around every cycle of relations a level comes back as it was, or higher."""
    for first in RELATIONS:
        for second in RELATIONS:
            closed = (second.premise, second.conclusion) == (first.conclusion, first.premise)
            if closed and not (first.converts or second.converts):
                top = 0.99 if CATALOGUE[first.premise].unit == "probability" else 5.0
                for start in np.linspace(0.01, top, 25):
                    there = second.level(first.level(float(start), 1), 1)
                    assert there >= start * (1 - 1e-14), (first.name, second.name)


def best_by_paths(given, free: set[str], size: int, longest: int = 5) -> dict[str, float]:
    """All paths up to a length, without cleverness."""
    best = dict(given)
    for start, first in given.items():
        ends = [(start, first)]
        for _ in range(longest):
            ends = [
                (relation.conclusion, relation.level(here, size))
                for notion, here in ends
                for relation in RELATIONS
                if relation.premise == notion
                and set(relation.hypotheses) <= free
                and not relation.converts
            ]
            for notion, here in ends:
                best[notion] = min(best.get(notion, math.inf), here)
    return {key: item for key, item in best.items() if item < CATALOGUE[key].largest}


def test_the_search_finds_the_best_of_all_paths():
    rng = np.random.default_rng(8)
    names = [
        "full-support",
        "mutual-independence",
        "default-possible",
        "groups-within-size",
        "downward-scalable-family",
        "record-secrets",
        "causal-structure",
    ]
    for _ in range(runs(100)):
        chosen = [str(chosen) for chosen in rng.choice(list(CATALOGUE), size=2, replace=False)]
        given = {
            item: float(rng.uniform(0.05, 0.9 if item in ("sp", "bsp") else 3.0)) for item in chosen
        }
        assume = [name for name in names if rng.random() < 0.4]
        free = set(assume) | ({"default-in-domain"} if "default-possible" in assume else set())
        size = int(rng.integers(1, 5))
        reached = levels(implied(given, assume=assume, size=size, default=0))
        assert reached == pytest.approx(best_by_paths(given, free, size)), (given, assume)


@pytest.mark.prove
def test_what_is_implied_is_true():
    """From levels of random mechanisms on random finite laws: no implied level is exceeded."""
    rng = np.random.default_rng(77)
    implied_levels = 0
    notions = [key for key in CATALOGUE if key != "pufferfish"]
    for _ in range(runs(120)):
        case = model_for(rng, ())
        law = case[0] / case[0].sum()
        population = Finite(probabilities=law.tolist())
        start = [
            str(chosen)
            for chosen in rng.choice(notions, size=int(rng.integers(1, 3)), replace=False)
        ]
        given = {entry: min(level(entry, case), CATALOGUE[entry].largest) for entry in start}
        if not all(math.isfinite(value) for value in given.values()):
            continue
        assume = ["causal-structure", "downward-scalable-family", "record-secrets"]
        consequence = implied(given, population, assume, size=SIZE, default=0)
        for item in consequence.implied:
            truth = level(item.notion, case)
            assert truth <= item.level * (1 + 1e-9) + 1e-10, (given, item, law.tolist())
            implied_levels += 1
    assert implied_levels > runs(120)


def test_a_declared_need_brings_what_it_says():
    for given, population in (({"bdp": 1.0}, None), ({"dp": 1.0}, None), ({"mp": 0.5}, CHAIN)):
        consequence = implied(given, population)
        for need in consequence.needs:
            if need.level is not None:
                more = implied(given, population, need.needs, size=consequence.size)
                assert more[need.notion].level == need.level
                for fewer in itertools.combinations(need.needs, len(need.needs) - 1):
                    less = implied(given, population, fewer, size=consequence.size)
                    known = need.notion in less and less[need.notion].level <= need.level
                    assert not known, need


def test_plain_data():
    plain = implied({"bdp": 1.0}, CHAIN).to_dict()
    bsp = next(item for item in plain["implied"] if item["notion"] == "bsp")
    assert bsp["level"] == pytest.approx(math.tanh(0.5))
    assert bsp["from"] == "bdp"
    assert bsp["path"][0]["relation"] == "bdp-to-bsp"
    assert "percentage points" in bsp["in_words"]
    assert plain["population"]["model"] == "markov"
