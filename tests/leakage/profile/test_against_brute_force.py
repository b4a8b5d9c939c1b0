"""Every evaluator against posterior tables that are searched over beliefs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pytest

from bayesdp.leakage.profile import classical, deltas, effects, membership, pufferfish, semantic
from bayesdp.leakage.profile.model import LawAndChannel, Witness
from tests.effort import runs
from tests.oracles import finite, mechanisms, notions
from tests.oracles.membership import largest_ratio, level_of

ROUNDING = 1e-11
SHAPES = [(2,), (3,), (2, 2), (2, 3), (3, 2), (2, 2, 2)]


def random_model(
    rng: np.random.Generator, shapes=SHAPES, *, zeros: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """A law and a channel; one in three has impossible outputs, one in three impossible records."""
    shape = shapes[int(rng.integers(len(shapes)))]
    joint = mechanisms.random_joint(rng, shape, float(rng.choice([0.0, 0.0, 0.4]) if zeros else 0))
    outcomes = int(rng.integers(2, 4))
    channel = rng.gamma(float(rng.choice([0.5, 2.0])), size=(*shape, outcomes)) + 1e-3
    if zeros and rng.random() < 0.34:
        channel = channel * (rng.random(channel.shape) < 0.75)
        channel[channel.sum(axis=-1) == 0.0, 0] = 1.0
    return joint, channel / channel.sum(axis=-1, keepdims=True)


def every(model: LawAndChannel) -> list[range]:
    return [range(size) for size in model.sizes]


def same(actual: float, truth: float, error: float = ROUNDING) -> bool:
    return actual == truth or abs(actual - truth) <= error


@pytest.mark.prove
def test_semantic_levels_are_those_of_the_best_belief():
    rng = np.random.default_rng(51)
    ones = 0
    for _ in range(runs(300)):
        joint, channel = random_model(rng, [(2,), (3,), (2, 2), (2, 3)])
        model = LawAndChannel.of(joint, channel)
        sp = semantic.semantic_privacy(model, every(model))
        bsp = semantic.bayesian_semantic_privacy(model, every(model))
        known = semantic.known_semantic_privacy(model, every(model))
        case = (joint.tolist(), channel.tolist())
        for actual, games in (
            (sp, notions.semantic_games(channel)),
            (bsp, notions.bayesian_games(joint, channel, known=False)),
            (known, notions.bayesian_games(joint, channel, known=True)),
        ):
            truth = notions.semantic(games)
            assert truth <= actual.level + ROUNDING, case
            assert truth >= actual.level - notions.SEARCH_ERROR, (truth, actual, case)
            if actual.by is not None:
                assert same(posterior_distance(joint, channel, actual), actual.level, 1e-8), case
        ones += sp.level == 1.0
    assert ones > 0


def posterior_distance(joint, channel, actual) -> float:
    """The witness of sp or bsp, as a belief on its two points, through the definition."""
    by: Witness = actual.by
    points = [dict(zip(by.records, side, strict=True)) for side in (by.likely, by.unlikely)]
    points = [point | dict(zip(by.known, by.known_values, strict=True)) for point in points]
    real = [notions.likelihood(joint, channel, point, by.outcome) for point in points]
    at = [point | {by.record: by.default} for point in points]
    compared = [notions.likelihood(joint, channel, item, by.outcome) for item in at]
    if len(by.records) == channel.ndim - 1:  # all records: sp also speaks of impossible databases
        full = [tuple(point[j] for j in range(channel.ndim - 1)) for point in points]
        real = [channel[(*x, by.outcome)] for x in full]
        compared = [
            channel[(*x[: by.record], by.default, *x[by.record + 1 :], by.outcome)] for x in full
        ]
    if by.limit:
        return actual.level
    share = by.belief
    belief = np.array([share / compared[0], (1.0 - share) / compared[1]])
    return notions.distance(belief / belief.sum(), np.array(real), np.array(compared))


@pytest.mark.prove
def test_two_points_are_enough():
    """Linear programs over all beliefs, where no likelihood is zero."""
    rng = np.random.default_rng(52)
    for _ in range(runs(60)):
        joint, channel = random_model(rng, [(3,), (2, 2), (2, 3)], zeros=False)
        model = LawAndChannel.of(joint, channel)
        games = list(notions.semantic_games(channel))
        chosen = [games[int(k)] for k in rng.choice(len(games), 4)]
        for real, compared in chosen:
            logs = np.log(real / compared)
            level = semantic.level_of(float(logs.max() - logs.min()))
            assert same(notions.program_search(real, compared), level, 1e-6)
            for _ in range(20):
                belief = rng.dirichlet(np.full(len(real), rng.choice([0.1, 1.0])))
                assert notions.distance(belief, real, compared) <= level + ROUNDING
        assert semantic.semantic_privacy(model, every(model)).level <= 1.0


@pytest.mark.prove
def test_membership_levels_are_those_of_extreme_beliefs_and_of_the_prior():
    rng = np.random.default_rng(53)
    for _ in range(runs(300)):
        joint, channel = random_model(rng)
        model = LawAndChannel.of(joint, channel)
        reached = membership.membership_privacy(model).level
        truth = notions.membership(joint, channel, rng)
        case = (joint.tolist(), channel.tolist())
        if math.isinf(reached):
            assert truth > 10.0, case
        else:
            assert reached - 1e-6 <= truth <= reached + ROUNDING, (reached, truth, case)
        own = membership.membership_privacy_of_prior(model)
        assert same(own.level, notions.membership_of_prior(joint, channel)), case
        assert own.level <= reached + ROUNDING, case


def test_lemma_1_by_its_two_conditions():
    rng = np.random.default_rng(54)
    for _ in range(2000):
        belief, level = float(rng.uniform(0.001, 0.999)), float(rng.uniform(0.0, 4.0))
        g = largest_ratio(level, belief)
        assert g >= math.exp(level) - 1e-9
        for ratio, allowed in ((g * (1.0 - 1e-9), True), (g * (1.0 + 1e-9), False)):
            game = np.array([ratio, 1.0]) / max(ratio, 1.0)
            table = notions.membership_level(np.array([belief, 1.0 - belief]), game)
            item = math.log(posterior_of(belief, ratio) / belief) <= level
            two = math.log1p(belief * (ratio - 1.0)) <= level
            assert (item and two) == allowed or level < 1e-6
            if ratio >= 1.0:
                assert table >= level_of(ratio, belief) - ROUNDING
        assert abs(level_of(g, belief) - level) < 1e-9
    assert level_of(0.5, 0.3) == 0.0
    assert level_of(math.inf, 0.3) == math.inf


def value_is(sizes: tuple[int, ...], record: int, value: int) -> pufferfish.Secret:
    return pufferfish.some(sizes, (record,), (value,), f"record {record} is {value}")


def bayesian_pairs(sizes: tuple[int, ...]) -> Iterator[pufferfish.SecretPair]:
    """The pairs that make Pufferfish BDP: two values of a record beside the same known ones.

    `(W + 1)^(n - 1)` conditions for each record; for small domains.
    """
    for i in range(len(sizes)):
        others = [j for j in range(len(sizes)) if j != i]
        for setting in itertools.product(*((None, *range(sizes[j])) for j in others)):
            known = pufferfish.Secret("nothing known", np.ones(sizes, dtype=bool))
            for j, value in zip(others, setting, strict=True):
                if value is not None:
                    known = known & value_is(sizes, j, value)
            for a, b in itertools.combinations(range(sizes[i]), 2):
                yield value_is(sizes, i, a) & known, value_is(sizes, i, b) & known


def posterior_of(belief: float, ratio: float) -> float:
    return belief * ratio / (belief * ratio + 1.0 - belief)


@pytest.mark.prove
def test_groups_the_strong_adversary_and_independent_records():
    rng = np.random.default_rng(55)
    for _ in range(runs(300)):
        joint, channel = random_model(rng)
        model = LawAndChannel.of(joint, channel)
        group = classical.group_privacy(model)
        dp = classical.differential_privacy(model).level
        case = channel.tolist()
        assert same(dp, finite.dp_level(channel)), case
        for size in range(1, model.records + 1):
            assert same(group[size - 1].level, notions.group_level(channel, size)), case
            by = group[size - 1].by
            if by is not None:
                top, bottom = channel[(*by.likely, by.outcome)], channel[(*by.unlikely, by.outcome)]
                assert same(notions.ratio(top, bottom), group[size - 1].level), case
                apart = sum(a != b for a, b in zip(by.likely, by.unlikely, strict=True))
                assert apart <= size
        assert same(group[0].level, dp), case
        assert same(classical.strong_adversary(model).level, dp), case
        assert same(classical.independent_records(model).level, dp), case
        product = product_law(rng, model.sizes)
        truth, _, _ = finite.leakage(product, channel, "any")
        assert truth <= dp + ROUNDING, case


def product_law(rng: np.random.Generator, sizes) -> np.ndarray:
    """A random product law, sometimes with impossible values."""
    law = np.ones(())
    for size in sizes:
        item = mechanisms.random_joint(rng, (size,), float(rng.choice([0.0, 0.3])))
        law = law[..., None] * item
    return law / law.sum()


@pytest.mark.prove
def test_setting_secrets_and_deltas():
    rng = np.random.default_rng(56)
    for _ in range(runs(300)):
        joint, channel = random_model(rng)
        model = LawAndChannel.of(joint, channel)
        case = (joint.tolist(), channel.tolist())
        do = effects.causal_effect(model).level
        assert same(do, notions.setting_level(joint, channel)), case
        assert do <= finite.dp_level(channel) + ROUNDING, case
        predicates = [
            (lambda x, v=v: v in x, lambda x, v=v: v not in x) for v in range(max(model.sizes))
        ]
        household = pufferfish.pufferfish([model], pufferfish.household_pairs(model.sizes))
        assert same(household.level, notions.secrets_level(joint, channel, predicates)), case
        pairs = list(bayesian_pairs(model.sizes))
        bdp, _, _ = finite.leakage(joint, channel, "any")
        assert same(pufferfish.pufferfish([model], pairs).level, bdp), case
        epsilon = float(rng.uniform(0.0, 1.5))
        actual = deltas.deltas(model, epsilon)
        dp, any_level = notions.delta_levels(joint, channel, epsilon)
        assert same(actual.dp, dp), case
        assert same(actual.bdp["any"], any_level), case
        assert actual.bdp["uninformed"] <= actual.bdp["any"] + ROUNDING
        assert actual.bdp["informed"] <= min(actual.dp, actual.bdp["any"]) + ROUNDING


def test_a_family_has_the_largest_level_of_its_members():
    rng = np.random.default_rng(57)
    for _ in range(20):
        channel = random_model(rng, [(2, 2)], zeros=False)[1]
        members = [mechanisms.random_joint(rng, (2, 2), 0.0) for _ in range(3)]
        models = [LawAndChannel.of(member, channel) for member in members]
        pairs = pufferfish.household_pairs((2, 2))
        actual = pufferfish.pufferfish(models, pairs)
        each = [pufferfish.pufferfish([model], pairs).level for model in models]
        assert actual.level == max(each)
        assert actual.by is not None
        assert actual.by.member == int(np.argmax(each))


def test_an_output_that_the_default_excludes_has_level_one():
    """Left out, it would make "SP implies DP" false: the other output has level 0.1716."""
    channel = np.array([[0.0, 1.0], [0.5, 0.5]])
    model = LawAndChannel.of([0.5, 0.5], channel)
    assert semantic.semantic_privacy(model, [(0,)]).level == 1.0
    assert classical.differential_privacy(model).level == math.inf
    games = list(notions.semantic_games(channel, 0))
    assert notions.semantic(iter(games)) == 1.0
    left = max(notions.two_point_search(*game) for game in games if game[1].max() > 0.0)
    assert left == pytest.approx(math.tanh(math.log(2.0) / 4.0), abs=1e-8)


def test_hands_on_a_coin():
    """Worked by hand: randomized response on one fair bit with eps = ln 3."""
    channel = np.array([[0.75, 0.25], [0.25, 0.75]])
    model = LawAndChannel.of([0.5, 0.5], channel)
    log_3 = math.log(3.0)
    root = math.sqrt(3.0)
    assert classical.differential_privacy(model).level == pytest.approx(log_3, abs=1e-12)
    assert effects.causal_effect(model).level == pytest.approx(log_3, abs=1e-12)
    # Weights 3 and 1: a belief of 1 / (1 + sqrt 3) in the first moves by (sqrt 3 - 1)/(sqrt 3 + 1).
    assert semantic.semantic_privacy(model, [(0, 1)]).level == pytest.approx(
        (root - 1.0) / (root + 1.0), abs=1e-12
    )
    # A fair belief becomes 3/4: ln(3/2) for the value, ln 2 for its absence.
    own = membership.membership_privacy_of_prior(model).level
    assert own == pytest.approx(math.log(2.0), abs=1e-12)
    assert deltas.deltas(model, 0.0).dp == pytest.approx(0.5, abs=1e-12)
    assert deltas.deltas(model, log_3).dp == pytest.approx(0.0, abs=1e-12)


def test_all_sets_s_are_searched():
    """A mechanism that only tells records 0 and 1 together: S must hold one of them."""
    shape = (2, 2, 2)
    channel = np.empty((*shape, 2))
    for x in itertools.product(*map(range, shape)):
        chance = 0.8 if x[0] ^ x[1] else 0.2
        channel[x] = (1.0 - chance, chance)
    model = LawAndChannel.of(np.full(shape, 0.125), channel)
    actual = semantic.bayesian_semantic_privacy(model, every(model))
    assert actual.level == pytest.approx(math.tanh(math.log(4.0) / 2.0), abs=1e-12)
    assert actual.by is not None
    assert set(actual.by.records) >= {0, 1}
