"""No finite model breaks an implication between notions (theory 5.2), and the constants are sharp.

Levels come from the evaluators; beside them one random belief for each model goes through its
posterior table, so that an implication's conclusion is also tested where no evaluator had a say.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

from bayesdp.leakage.profile import classical, effects, membership, semantic
from bayesdp.leakage.profile.model import LawAndChannel
from tests.effort import runs
from tests.leakage.profile.test_against_brute_force import product_law, random_model
from tests.oracles import mechanisms, notions

ROUNDING = 1e-10
SHAPES = [(2,), (3,), (2, 2), (2, 2), (2, 3), (3, 3), (2, 2, 2)]


@dataclass(frozen=True)
class Levels:
    dp: float
    strong: float
    independent: float
    any: float
    uninformed: float
    informed: float
    sp: float
    bsp: float
    known: float
    mp: float
    own: float
    do: float


def levels_of(model: LawAndChannel, defaults) -> Levels:
    bdp = classical.bayesian(model)
    flat = classical.bayesian(classical.uniform(model))
    return Levels(
        classical.differential_privacy(model).level,
        flat["informed"].level,
        flat["any"].level,
        bdp["any"].level,
        bdp["uninformed"].level,
        bdp["informed"].level,
        semantic.semantic_privacy(model, defaults).level,
        semantic.bayesian_semantic_privacy(model, defaults).level,
        semantic.known_semantic_privacy(model, defaults).level,
        membership.membership_privacy(model).level,
        membership.membership_privacy_of_prior(model).level,
        effects.causal_effect(model).level,
    )


def at_most(small: float, large: float) -> bool:
    return small <= large + ROUNDING * max(1.0, abs(large))


def broken(model: LawAndChannel, levels: Levels, covered: bool) -> list[str]:
    """The names of the implications that this model breaks."""
    joint = model.joint
    full = bool((joint > 0.0).all())
    product = is_product(joint)
    held = {
        "dp = strong-dp": at_most(levels.dp, levels.strong) and at_most(levels.strong, levels.dp),
        "dp = independent-bdp": at_most(levels.dp, levels.independent)
        and at_most(levels.independent, levels.dp),
        "dp -> sp": at_most(levels.sp, math.tanh(levels.dp / 2.0)),
        "sp -> dp": at_most(math.tanh(levels.dp / 4.0), levels.sp),
        "bdp -> bsp": at_most(levels.bsp, math.tanh(levels.any / 2.0)),
        "bsp -> bdp": not covered or at_most(math.tanh(levels.any / 4.0), levels.bsp),
        "bsp = bdp, x_S known": not covered
        or abs(levels.known - math.tanh(levels.any / 4.0)) <= ROUNDING,
        "bsp -> sp": not full or at_most(levels.sp, levels.bsp),
        "sp -> bsp": not product or at_most(levels.bsp, levels.sp),
        "bdp -> mp": at_most(levels.mp, levels.any),
        "mp -> bdp": at_most(levels.any, levels.mp),
        "mp -> mp of the prior": at_most(levels.own, levels.mp),
        "bdp -> uninformed": at_most(levels.uninformed, levels.any),
        "bdp -> informed": at_most(levels.informed, levels.any),
        "dp -> informed": at_most(levels.informed, levels.dp),
        "bdp -> dp": not full or at_most(levels.dp, levels.any),
        "dp -> bdp, independent": not product or at_most(levels.any, levels.dp),
        "dp -> causal-do": at_most(levels.do, levels.dp),
        "dp -> bdp by n": at_most(levels.any, model.records * levels.dp),
    }
    return [name for name, holds in held.items() if not holds]


def is_product(joint: np.ndarray) -> bool:
    law = np.ones(())
    for i in range(joint.ndim):
        law = law[..., None] * joint.sum(axis=tuple(j for j in range(joint.ndim) if j != i))
    return bool(np.allclose(law, joint, rtol=0.0, atol=1e-14))


def searched(model: LawAndChannel, levels: Levels, rng: np.random.Generator, defaults) -> list[str]:
    """The same for one random belief of each kind, from its posterior table."""
    joint, channel = model.joint, model.channel
    n, i = model.records, int(rng.integers(model.records))
    y, d = int(rng.integers(channel.shape[-1])), int(rng.choice(list(defaults[i])))
    out = []
    real, other = channel[..., y], np.take(channel, [d], axis=i)[..., y]
    compared = np.broadcast_to(other, real.shape).ravel()
    belief = rng.dirichlet(np.full(real.size, rng.choice([0.1, 1.0])))
    if not at_most(notions.distance(belief, real.ravel(), compared), math.tanh(levels.dp / 2.0)):
        out.append("dp -> sp, one belief")
    kept = [j for j in range(n) if j == i or rng.random() < 0.5]
    gone = tuple(j for j in range(n) if j not in kept)
    mass, hits = joint.sum(axis=gone), (joint * real).sum(axis=gone)
    chances = np.where(mass > 0.0, hits / np.where(mass > 0.0, mass, 1.0), np.nan)
    default = np.broadcast_to(np.take(chances, [d], axis=kept.index(i)), chances.shape)
    possible = ~(np.isnan(chances) | np.isnan(default))
    if possible.any():
        belief = rng.dirichlet(np.full(int(possible.sum()), rng.choice([0.1, 1.0])))
        moved = notions.distance(belief, chances[possible], default[possible])
        if not at_most(moved, math.tanh(levels.any / 2.0)):
            out.append("bdp -> bsp, one belief")
    line = np.moveaxis(chances, kept.index(i), 0).reshape(model.sizes[i], -1)
    game = line[:, int(rng.integers(line.shape[1]))]
    game = game[~np.isnan(game)]
    if len(game) > 1:
        belief = rng.dirichlet(np.full(len(game), rng.choice([0.1, 1.0])))
        if not at_most(notions.membership_level(belief, game), levels.any):
            out.append("bdp -> mp, one belief")
    return out


@pytest.mark.prove
@pytest.mark.parametrize("part", range(4))
def test_no_finite_model_breaks_an_implication(part: int):
    """20,000 models in all, in four parts that can run side by side."""
    rng = np.random.default_rng((500, part))
    seen = {"infinite": 0, "holes": 0, "product": 0, "fixed default": 0, "dependence": 0}
    for run in range(runs(5_000)):
        joint, channel = random_model(rng, SHAPES)
        if run % 5 == 0:
            joint = product_law(rng, joint.shape)
        elif run % 5 == 1:  # private, so that levels are of the size of a DP cost
            channel = mechanisms.random_channel(rng, joint.shape, float(rng.uniform(0.1, 2.0)))
        model = LawAndChannel.of(joint, channel)
        defaults: list = [range(size) for size in model.sizes]
        covered = True
        if run % 3 == 0:
            chosen = [int(rng.integers(size)) for size in model.sizes]
            defaults = [(value,) for value in chosen]
            covered = all(
                not ((joint.sum(axis=i) > 0.0) & (joint.take(v, axis=i) == 0.0)).any()
                for i, v in enumerate(chosen)
            )
        actual = levels_of(model, defaults)
        case = (run, joint.tolist(), channel.tolist(), defaults, actual)
        assert broken(model, actual, covered) == [], case
        assert searched(model, actual, rng, defaults) == [], case
        seen["infinite"] += math.isinf(actual.any)
        seen["holes"] += bool((joint == 0.0).any())
        seen["product"] += is_product(joint)
        seen["fixed default"] += run % 3 == 0
        seen["dependence"] += actual.any > actual.dp + 0.01
    assert min(seen.values()) > runs(5_000) // 100, seen


def coin(eps: float) -> np.ndarray:
    keep = math.exp(eps) / (1.0 + math.exp(eps))
    return np.array([[keep, 1.0 - keep], [1.0 - keep, keep]])


def parity(eps: float) -> np.ndarray:
    """Randomized response on `x_1 xor x_2`."""
    return np.stack([coin(eps), coin(eps)[::-1]])


@pytest.mark.parametrize("eps", [0.05, 0.3, 0.8, 2.0])
def test_the_constants_are_attained(eps: float):
    """Sharp within 1e-6, with what was published beside: it says less, or nothing at all."""
    two = LawAndChannel.of(np.full((2, 2), 0.25), parity(eps))
    item = LawAndChannel.of(np.array([0.5, 0.5]), coin(eps))
    down, up = levels_of(two, [(0, 1), (0, 1)]), levels_of(item, [(0, 1)])
    assert abs(down.any - eps) < 1e-9
    assert abs(down.dp - eps) < 1e-9
    assert abs(down.bsp - math.tanh(eps / 2.0)) < 1e-6  # e-BDP => tanh(e/2)-BSP
    assert abs(down.sp - math.tanh(eps / 2.0)) < 1e-6
    assert abs(up.any - eps) < 1e-9
    assert abs(up.bsp - math.tanh(eps / 4.0)) < 1e-6  # tanh(e/4)-BSP => e-BDP
    assert abs(up.sp - math.tanh(eps / 4.0)) < 1e-6
    # And by search over beliefs, without the evaluators.
    searched_down = notions.semantic(notions.bayesian_games(two.joint, two.channel, known=False))
    searched_up = notions.semantic(notions.bayesian_games(item.joint, item.channel, known=False))
    assert abs(searched_down - math.tanh(eps / 2.0)) < 1e-6
    assert abs(searched_up - math.tanh(eps / 4.0)) < 1e-6
    published_down = math.exp(2.0 * eps) - 1.0
    published_up = 0.5 - 1.0 / (math.exp(eps) + 1.0)
    assert published_down > math.tanh(eps / 2.0)
    assert (published_down >= 1.0) == (eps > math.log(2.0) / 2.0)  # nothing above 0.3466
    assert published_up == pytest.approx(math.tanh(eps / 2.0) / 2.0)
    assert published_up < math.tanh(eps / 4.0)


def test_the_published_example_of_the_converse():
    """At e = .8: .1974 against Zhao's .1900."""
    assert math.tanh(0.2) == pytest.approx(0.1974, abs=5e-5)
    assert 0.5 - 1.0 / (math.exp(0.8) + 1.0) == pytest.approx(0.1900, abs=5e-5)


@pytest.mark.parametrize("eps", [0.5, 1.0])
def test_joint_beliefs_would_break_bdp_to_mp(eps: float):
    """Two independent bits, each answered: BDP eps. One who believes that they are the same: 2 eps.

    So membership privacy is read with beliefs on the attacked record alone (theory 5.1 f).
    """
    channel = mechanisms.randomized_response((2, 2), eps)
    model = LawAndChannel.of(np.full((2, 2), 0.25), channel)
    assert abs(classical.bayesian(model)["any"].level - eps) < 1e-9
    assert abs(membership.membership_privacy(model).level - eps) < 1e-9
    copies = np.array([channel[0, 0, -1], channel[1, 1, -1]])  # the answer (1, 1)
    seen = [notions.membership_level(np.array([1.0 - b, b]), copies) for b in (0.01, 1e-9)]
    assert seen[0] > 1.5 * eps
    assert seen[1] == pytest.approx(2.0 * eps, abs=1e-6)
    if eps == 1.0:
        assert seen[0] == pytest.approx(1.9381, abs=5e-5)


def test_the_other_reading_of_bsp_gives_no_bdp_level():
    """Replace the record in the table, the rest as the real record had them: copies don't show."""
    eps = 1.0
    channel = mechanisms.randomized_response((2, 2), eps)
    twins = np.array([[0.5, 0.0], [0.0, 0.5]])
    model = LawAndChannel.of(twins, channel)
    bdp = classical.bayesian(model)["any"].level
    assert bdp == pytest.approx(2.0 * eps)
    answer = channel[..., -1]
    real = np.array([answer[0, 0], answer[1, 1]])
    compared = np.array([answer[0, 0], answer[0, 1]])  # record 0 becomes 0, its twin stays
    moved = notions.two_point_search(real, compared)
    assert moved == pytest.approx(math.tanh(eps / 4.0), abs=1e-8)
    assert moved < math.tanh(bdp / 4.0) - 0.1
    assert semantic.bayesian_semantic_privacy(model, [(0, 1)] * 2).level >= math.tanh(bdp / 4.0)
