"""Every relation against brute force on random small models, with its hypotheses and without."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest

from bayesdp.errors import InputError
from bayesdp.kernel import arithmetic
from bayesdp.kernel.conversions.relations import TABLE
from bayesdp.leakage.profile.model import LawAndChannel
from bayesdp.leakage.profile.semantic import bayesian_semantic_privacy, semantic_privacy
from bayesdp.notions.catalogue import CATALOGUE
from bayesdp.populations import Finite
from bayesdp.theorems import leakage
from bayesdp.theorems.relations import BY_NAME, HYPOTHESES, RELATIONS, Relation
from bayesdp.theorems.relations.hypotheses import facts
from tests.effort import runs
from tests.oracles import finite, mechanisms, notions

DEFAULT, SIZE = 0, 2
CLOSE = 1e-9
SHAPES = [(2,), (3,), (2, 2), (2, 3), (3, 2), (2, 2, 2)]
Case = tuple[np.ndarray, np.ndarray]


def random_channel(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Private mechanisms at the edge of their DP level, and arbitrary channels."""
    if rng.random() < 0.6:
        return mechanisms.random_channel(rng, shape, float(10 ** rng.uniform(-1.3, 0.5)))
    channel = (
        rng.gamma(float(rng.choice([0.5, 2.0])), size=(*shape, int(rng.integers(2, 4)))) + 1e-3
    )
    if rng.random() < 0.2:
        channel = channel * (rng.random(channel.shape) < 0.8)
        channel[channel.sum(axis=-1) == 0.0, 0] = 1.0
    return channel / channel.sum(axis=-1, keepdims=True)


def product_law(rng: np.random.Generator, shape: tuple[int, ...], zeros: float = 0.0) -> np.ndarray:
    joint = np.ones(())
    for size in shape:
        margin = rng.dirichlet(np.ones(size)) + 1e-3
        keep = rng.random(size) >= zeros
        keep[rng.integers(size)] = True
        margin = margin * keep
        joint = np.multiply.outer(joint, margin / margin.sum())
    return joint


# -- levels, from the definitions ----------------------------------------------------------


def record_pairs(joint: np.ndarray) -> list[tuple[notions.Predicate, notions.Predicate]]:
    """Pufferfish: `x_i = v` against `x_i = v'`, each with the same values of any others."""
    pairs = []
    for i in range(joint.ndim):
        others = [j for j in range(joint.ndim) if j != i]
        for setting in itertools.product(*((None, *range(joint.shape[j])) for j in others)):
            known = {j: v for j, v in zip(others, setting, strict=True) if v is not None}
            for v, w in itertools.combinations(range(joint.shape[i]), 2):
                pairs.append((_with(known | {i: v}), _with(known | {i: w})))
    return pairs


def _with(values: dict[int, int]) -> notions.Predicate:
    return lambda x: all(x[j] == v for j, v in values.items())


def two_points(shape: tuple[int, ...]) -> list[np.ndarray]:
    """Every population on two databases: what a level for every population speaks of."""
    cells = list(itertools.product(*map(range, shape)))
    actual = []
    for item, other in itertools.combinations(cells, 2):
        joint = np.zeros(shape)
        joint[item] = joint[other] = 0.5
        actual.append(joint)
    return actual


LEVELS: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "dp": lambda joint, channel: finite.dp_level(channel),
    "strong-dp": lambda joint, channel: max(
        finite.leakage(law, channel, "informed")[0] for law in two_points(joint.shape)
    ),
    "group-dp": lambda joint, channel: notions.group_level(channel, SIZE),
    "bdp": lambda joint, channel: finite.leakage(joint, channel, "any")[0],
    "bdp-uninformed": lambda joint, channel: finite.leakage(joint, channel, "uninformed")[0],
    "bdp-informed": lambda joint, channel: finite.leakage(joint, channel, "informed")[0],
    "sp": lambda joint, channel: (
        semantic_privacy(LawAndChannel.of(joint, channel), [[DEFAULT]] * joint.ndim).level
        if joint.ndim
        else 0.0
    ),
    "bsp": lambda joint, channel: (
        bayesian_semantic_privacy(LawAndChannel.of(joint, channel), [[DEFAULT]] * joint.ndim).level
    ),
    "mp": lambda joint, channel: notions.membership(joint, channel, np.random.default_rng(0)),
    "causal-do": notions.setting_level,
    "pufferfish": lambda joint, channel: notions.secrets_level(joint, channel, record_pairs(joint)),
}


def independent_level(joint: np.ndarray, channel: np.ndarray) -> float:
    """BDP under product laws: some random ones, and all that fix every record but one."""
    rng = np.random.default_rng(0)
    laws = [product_law(rng, joint.shape, zeros) for zeros in (0.0, 0.3)]
    for i in range(joint.ndim):
        others = [range(size) for j, size in enumerate(joint.shape) if j != i]
        for rest in itertools.product(*others):
            law = np.zeros(joint.shape)
            law[(*rest[:i], slice(None), *rest[i:])] = 1.0 / joint.shape[i]
            laws.append(law)
    return max(finite.leakage(law, channel, "any")[0] for law in laws)


LEVELS["independent-bdp"] = independent_level


def level(notion: str, case: Case) -> float:
    actual = LEVELS[notion](*case)
    return 0.0 if abs(actual) < 1e-14 else actual


def for_every_population(relation: Relation, case: Case) -> float:
    """The premise's level over populations on two databases (theory 5.2)."""
    return max(level(relation.premise, (law, case[1])) for law in two_points(case[0].shape))


# -- models that fulfil hypotheses -----------------------------------------------------------


def model_for(rng: np.random.Generator, hypotheses: tuple[str, ...]) -> Case:
    while True:
        shape = SHAPES[int(rng.integers(len(SHAPES)))]
        zeros = 0.0 if rng.random() < 0.5 else 0.35
        if "full-support" in hypotheses:
            zeros = 0.0
        if "mutual-independence" in hypotheses:
            joint = product_law(rng, shape, zeros)
        else:
            joint = mechanisms.random_joint(rng, shape, zeros)
        if "groups-within-size" in hypotheses and len(shape) > SIZE:
            continue
        if "default-possible" in hypotheses and not default_covers(joint):
            continue
        return joint, random_channel(rng, shape)


def default_covers(joint: np.ndarray) -> bool:
    return all(
        bool(np.all((joint.sum(axis=i) == 0.0) | (joint.take(DEFAULT, axis=i) > 0.0)))
        for i in range(joint.ndim)
    )


def bound(relation: Relation, case: Case) -> float:
    """What the relation says of this model."""
    if "every-population" in relation.hypotheses:
        premise = for_every_population(relation, case)
    else:
        premise = level(relation.premise, case)
    if not math.isfinite(premise):
        return math.inf
    if relation.converts is not None:
        law = case[0] / case[0].sum()
        population = Finite(probabilities=law.tolist())
        return leakage(population, premise, adversary=relation.converts).best.epsilon
    premise = min(premise, 1.0) if CATALOGUE[relation.premise].unit == "probability" else premise
    return relation.level(premise, SIZE)


@pytest.mark.prove
@pytest.mark.parametrize("relation", RELATIONS, ids=lambda relation: relation.name)
def test_no_model_violates_it(relation: Relation):
    rng = np.random.default_rng(700 + RELATIONS.index(relation))
    finite = 0
    for _ in range(runs(400 if relation.converts is None else 60)):
        case = model_for(rng, relation.hypotheses)
        claimed = bound(relation, case)
        if not math.isfinite(claimed):
            continue
        finite += 1
        truth = level(relation.conclusion, case)
        assert truth <= claimed * (1 + CLOSE) + 1e-11, (case[0].tolist(), case[1].tolist())
    assert finite > 0


@pytest.mark.prove
@pytest.mark.parametrize("name", ["bdp-to-bsp", "dp-to-sp", "bsp-to-sp", "sp-to-bsp"])
def test_semantic_levels_by_searched_beliefs(name: str):
    """The same with the conclusion searched over beliefs, which knows no formula."""
    relation = BY_NAME[name]
    rng = np.random.default_rng(19)
    for _ in range(runs(60)):
        joint, channel = model_for(rng, relation.hypotheses)
        if joint.size > 4:
            continue
        claimed = bound(relation, (joint, channel))
        games = (
            notions.semantic_games(channel, DEFAULT)
            if relation.conclusion == "sp"
            else notions.bayesian_games(joint, channel, known=False, default=DEFAULT)
        )
        assert notions.semantic(games) <= min(claimed, 1.0) + 1e-9


# -- the constants are attained ----------------------------------------------------------------


def weights(table: list) -> np.ndarray:
    """The two-outcome channel whose first outcome has these relative probabilities."""
    hit = np.array(table, dtype=float)
    hit = hit / (2.0 * hit.max())
    return np.stack([hit, 1.0 - hit], axis=-1)


def tiny(table: list) -> np.ndarray:
    """The same with outcomes so rare that their complements tell nothing."""
    hit = 1e-9 * np.array(table, dtype=float)
    return np.stack([hit, 1.0 - hit], axis=-1)


@pytest.mark.parametrize("e", [0.05, 0.3466, 0.8, 1.0, 3.0])
def test_sharp_constants_are_attained(e: float):
    fair = np.full((2, 2), 0.25)
    different = tiny([[1.0, math.exp(e)], [math.exp(e), 1.0]])  # weights e^e and e^-e
    assert level("bdp", (fair, different)) == pytest.approx(e, abs=1e-7)
    assert level("dp", (fair, different)) == pytest.approx(e, abs=1e-7)
    for notion in ("bsp", "sp"):
        assert level(notion, (fair, different)) == pytest.approx(math.tanh(e / 2), abs=1e-6)
    single = tiny([1.0, math.exp(e)])
    for notion in ("bsp", "sp"):
        reached = level(notion, (np.full(2, 0.5), single))
        assert reached == pytest.approx(math.tanh(e / 4), abs=1e-6)
    published = BY_NAME["bdp-to-bsp"].published
    assert published is not None
    assert published.level(e, SIZE) == pytest.approx(min(1.0, math.expm1(2 * e)))
    assert BY_NAME["bdp-to-bsp"].level(e, SIZE) == pytest.approx(math.tanh(e / 2))
    assert BY_NAME["bdp-to-bsp"].level(e, SIZE) < published.level(e, SIZE)


def test_the_constants_of_the_literature():
    """At .8: tanh(.2) = .1974 is enough for BDP, where .1900 was published."""
    back = BY_NAME["bsp-to-bdp"]
    assert back.published is not None
    assert back.level(0.19738, SIZE) == pytest.approx(0.8, abs=1e-4)
    assert back.published.level(0.18997, SIZE) == pytest.approx(0.8, abs=1e-4)
    for e in (0.2, 0.8, 2.0):
        zhao = 0.5 - 1.0 / (math.exp(e) + 1.0)
        assert back.published.level(zhao, SIZE) == pytest.approx(e, rel=1e-9)
        assert back.level(zhao, SIZE) < e
    assert back.published.level(0.5, SIZE) == math.inf
    assert back.level(1.0, SIZE) == math.inf
    nothing = BY_NAME["bdp-to-bsp"].published
    assert nothing is not None
    assert nothing.level(math.log(2) / 2 + 1e-9, SIZE) == 1.0
    assert nothing.level(math.log(2) / 2 - 1e-6, SIZE) < 1.0


# -- hypotheses are needed ----------------------------------------------------------------------


EQUAL = np.array([[0.5, 0.0], [0.0, 0.5]])
FAIR = np.full((2, 2), 0.25)
THREE = np.zeros((2, 2, 2))
THREE[0, 0, 0] = THREE[1, 1, 1] = 0.5
TELLS_WHETHER_EQUAL = weights([[1.0, 5.0], [5.0, 1.0]])
GEOMETRIC = weights([[[math.e ** (a + b + c) for c in (0, 1)] for b in (0, 1)] for a in (0, 1)])

WITHOUT: dict[tuple[str, str], Case] = {
    ("bdp-to-dp", "full-support"): (EQUAL, TELLS_WHETHER_EQUAL),
    ("bdp-informed-to-dp", "full-support"): (EQUAL, TELLS_WHETHER_EQUAL),
    ("bsp-to-sp", "full-support"): (EQUAL, TELLS_WHETHER_EQUAL),
    ("bdp-informed-to-bdp", "mutual-independence"): (EQUAL, weights([[1.0, 2.0], [2.0, 4.0]])),
    ("independent-bdp-to-bdp", "mutual-independence"): (THREE, GEOMETRIC),
    ("sp-to-bsp", "mutual-independence"): (THREE, GEOMETRIC),
    ("group-dp-to-bdp", "groups-within-size"): (THREE, GEOMETRIC),
    ("causal-do-to-dp", "every-population"): (FAIR, TELLS_WHETHER_EQUAL),
    ("bdp-uninformed-to-group-dp", "every-population"): (FAIR, TELLS_WHETHER_EQUAL),
    ("causal-do-to-bdp-uninformed", "mutual-independence"): (THREE, GEOMETRIC),
    ("bdp-uninformed-to-causal-do", "mutual-independence"): (
        np.array([[0.4, 0.1], [0.1, 0.4]]),
        weights([[1.0, 4.0], [4.0 / 15.0, 1.0]]),
    ),
    ("bdp-uninformed-to-causal-do", "full-support"): (
        np.array([[0.5, 0.5], [0.0, 0.0]]),
        weights([[1.0, 1.0], [3.0, 3.0]]),
    ),
    ("bsp-to-bdp", "default-possible"): (  # (2, 1) tells, where neither default 0 is possible
        np.array([[0.1, 0.0, 0.1], [0.1, 0.35, 0.0], [0.0, 0.035, 0.315]]),
        weights([[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 9.0, 1.0]]),
    ),
}


@pytest.mark.parametrize(("name", "hypothesis"), WITHOUT)
def test_it_fails_without_its_hypothesis(name: str, hypothesis: str):
    relation, case = BY_NAME[name], WITHOUT[name, hypothesis]
    assert hypothesis in relation.hypotheses
    claimed = relation.level(level(relation.premise, case), SIZE)
    assert level(relation.conclusion, case) > claimed + 0.05, (claimed, case)


def test_a_default_outside_the_domain_is_not_covered():
    """DP on the values 0 and 1 says nothing of a mechanism run on a default 2."""
    channel = weights([1.0, 1.2, 9.0])
    inside = channel[:2]
    assert finite.dp_level(inside) < 0.2
    games = ((channel[:2, y], np.full(2, channel[2, y])) for y in range(2))
    assert notions.semantic(games) < math.tanh(0.1)  # one record: the default cancels
    two = weights([[1.0, 1.0], [1.0, 1.0], [9.0, 1.0]])  # the third value reads record 2 aloud
    real, other = two[:2, :, 0].ravel(), np.tile(two[2, :, 0], 2)
    assert finite.dp_level(two[:2]) == 0.0
    assert notions.two_point_search(real, other) > 0.4


def test_every_derivable_hypothesis_of_a_relation_is_tested():
    derivable = {name for name, item in HYPOTHESES.items() if item.derive is not None}
    tested = {hypothesis for _, hypothesis in WITHOUT} | {"default-in-domain"}
    assert derivable | {"every-population"} <= tested


# -- the registry -------------------------------------------------------------------------------


def test_the_registry_names_real_things():
    assert len(BY_NAME) == len(RELATIONS)
    for relation in RELATIONS:
        assert relation.name == f"{relation.premise}-to-{relation.conclusion}"
        assert {relation.premise, relation.conclusion} <= set(CATALOGUE)
        assert set(relation.hypotheses) <= set(HYPOTHESES)
        assert relation.statement
        assert relation.source


def test_the_kernel_has_the_same_table():
    assert set(TABLE) == set(BY_NAME)
    rng = np.random.default_rng(3)
    for name, row in TABLE.items():
        relation = BY_NAME[name]
        assert (row.premise, row.conclusion) == (relation.premise, relation.conclusion)
        assert row.hypotheses == relation.hypotheses
        assert row.converts == relation.converts
        if row.converts is not None:
            continue
        top = 0.999 if CATALOGUE[relation.premise].unit == "probability" else 9.0
        for _ in range(runs(200)):
            premise, size = float(rng.uniform(0.0, top)), int(rng.integers(1, 9))
            ours = relation.level(premise, size)
            exact = row.level(arithmetic.exact(premise), size)
            assert bool(arithmetic.ball(arithmetic.exact(ours)) >= exact), (name, premise)
            assert ours <= float(exact.mid()) * (1 + 1e-14) + 1e-300, (name, premise)


def test_maps_are_monotone():
    for relation in RELATIONS:
        top = 1.0 if CATALOGUE[relation.premise].unit == "probability" else 40.0
        grid = np.linspace(0.0, top, 200)
        for rule in (relation.level, relation.published.level if relation.published else None):
            if rule is not None:
                levels = [rule(float(item), 3) for item in grid]
                assert levels == sorted(levels)
        assert relation.level(0.0, 3) <= 1e-300


# -- hypotheses, derived and refuted --------------------------------------------------------------


def test_a_finite_law_decides_its_hypotheses():
    rng = np.random.default_rng(5)
    for _ in range(runs(200)):
        shape = SHAPES[int(rng.integers(len(SHAPES)))]
        joint = mechanisms.random_joint(rng, shape, float(rng.choice([0.0, 0.3])))
        known = facts(Finite(probabilities=joint.tolist()), (), DEFAULT, SIZE)
        assert ("full-support" in known.holds) == bool((joint > 0.0).all())
        assert ("default-possible" in known.holds) == default_covers(joint)
        assert ("default-in-domain" in known.holds) is True
        assert ("groups-within-size" in known.holds) == (len(shape) <= SIZE)
        if len(shape) == 1:
            assert "mutual-independence" in known.holds


def test_pairwise_independence_is_not_mutual_independence():
    """The exclusive or of two fair bits beside them: any two are independent."""
    joint = np.zeros((2, 2, 2))
    for a, b in itertools.product((0, 1), repeat=2):
        joint[a, b, a ^ b] = 0.25
    known = facts(Finite(probabilities=joint.tolist()), (), DEFAULT, SIZE)
    assert "mutual-independence" in known.refuted
    product_of_bits = Finite(probabilities=np.full((2, 2, 2), 0.125).tolist())
    assert facts(product_of_bits, (), DEFAULT, SIZE).holds["mutual-independence"] == "derived"


def test_a_refuted_declaration_is_an_error():
    with pytest.raises(InputError, match="full-support"):
        facts(Finite(probabilities=EQUAL.tolist()), ("full-support",), DEFAULT, SIZE)
    with pytest.raises(InputError, match="default-in-domain"):
        facts(Finite(probabilities=FAIR.tolist()), ("default-in-domain",), 2, SIZE)
    with pytest.raises(InputError, match="Did you mean 'full-support'"):
        facts(None, ("full-suport",), DEFAULT, SIZE)
