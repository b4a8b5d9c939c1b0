"""The brute force itself: by hand, against the reference values, and by other routes."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from tests.effort import runs
from tests.oracles import chains, finite, gaussian, mechanisms

VECTORS = Path(__file__).parents[1] / "vectors"


def entries(name: str, keep=lambda entry: True) -> list:
    loaded = json.loads((VECTORS / f"{name}.json").read_text())
    kept = [entry for entry in loaded if keep(entry)]
    assert kept
    return [
        pytest.param(entry, id=f"{entry['name']}-{entry.get('dp_epsilon', '')}") for entry in kept
    ]


# ------------------------------------------------------ worked by hand


def test_independent_records_leak_exactly_eps():
    joint = chains.product(np.array([0.3, 0.7]), np.array([0.2, 0.5, 0.3]), np.array([0.9, 0.1]))
    for adversary in finite.ADVERSARIES:
        assert finite.worst_case(joint, 0.7, adversary).level == pytest.approx(0.7, abs=1e-12)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_identical_records_leak_n_eps_and_nothing_to_the_informed(n):
    joint = np.zeros((2,) * n)
    joint[(0,) * n], joint[(1,) * n] = 0.25, 0.75
    assert finite.worst_case(joint, 0.4).level == pytest.approx(0.4 * n, abs=1e-12)
    assert finite.worst_case(joint, 0.4, "uninformed").level == pytest.approx(0.4 * n, abs=1e-12)
    informed = finite.worst_case(joint, 0.4, "informed")
    assert (informed.level, informed.attack is None) == ((0.4, False) if n == 1 else (0.0, True))


def test_two_dependent_bits_by_hand():
    # X2 = X1 with probability 3/4 given either value, fair: the best h is e^eps on X2 = x1
    joint, eps = np.array([[3.0, 1.0], [1.0, 3.0]]) / 8, 1.0
    by_hand = eps + math.log((0.75 * math.exp(eps) + 0.25) / (0.25 * math.exp(eps) + 0.75))
    worst = finite.worst_case(joint, eps)
    assert worst.level == pytest.approx(by_hand, abs=1e-13)
    assert worst.attack is not None
    assert worst.attack.known == ()


def test_levels_do_not_add_up():
    weights = np.array([[9.0, 9.0], [0.0, 1.0]]) / 19  # no mass on (1, 0)
    hit = 11.0 ** np.add.outer([0, 1], [0, 1]) / 242
    run = np.stack([1 - hit, hit], axis=-1)
    assert finite.dp_level(run) == pytest.approx(math.log(11))
    assert finite.leakage(weights, run)[0] == pytest.approx(math.log(22), abs=1e-12)
    twice = finite.product_channel(run, run)
    assert finite.leakage(weights, twice)[0] == pytest.approx(math.log(1573), abs=1e-12)
    assert math.log(1573) > 2 * math.log(22)
    # the sound rule holds: composing at the DP level, then converting
    assert finite.leakage(weights, twice)[0] <= finite.worst_case(weights, 2 * math.log(11)).level


def test_levels_do_not_add_up_for_small_levels_either():
    a, mu = 0.2, 0.9
    weights = np.array([[1 - mu, mu], [0.0, mu * a / (1 - a)]])
    weights /= weights.sum()
    hit = 1.5 ** np.add.outer([0, 1], [0, 1]) / 4.5
    run = np.stack([1 - hit, hit], axis=-1)
    assert finite.leakage(weights, run)[0] == pytest.approx(0.50078, abs=6e-6)
    twice = finite.product_channel(run, run)
    assert finite.leakage(weights, twice)[0] == pytest.approx(1.03407, abs=6e-6)


def test_levels_do_not_add_up_for_the_uninformed():
    fair = np.full((2, 2), 0.25)
    keep = math.exp(3) / (1 + math.exp(3))
    parity = np.array([[0, 1], [1, 0]])
    on_parity = np.stack(
        [np.where(parity == 0, keep, 1 - keep), np.where(parity == 1, keep, 1 - keep)], axis=-1
    )
    on_bits = mechanisms.randomized_response((2, 2), 1.0)
    together = finite.product_channel(on_parity, on_bits)
    assert finite.leakage(fair, on_parity, "uninformed")[0] == pytest.approx(0.0, abs=1e-12)
    assert finite.leakage(fair, on_bits, "uninformed")[0] == pytest.approx(1.0, abs=1e-12)
    assert finite.leakage(fair, together, "uninformed")[0] == pytest.approx(1.8912, abs=6e-5)


def test_parallel_use_of_equal_records_costs_twice():
    equal, eps = np.diag([0.5, 0.5]), 0.6
    first = mechanisms.randomized_response((2, 2), [eps, 0.0])
    second = mechanisms.randomized_response((2, 2), [0.0, eps])
    both = mechanisms.randomized_response((2, 2), eps)
    assert finite.leakage(equal, first)[0] == pytest.approx(eps, abs=1e-12)
    assert finite.leakage(equal, second)[0] == pytest.approx(eps, abs=1e-12)
    assert finite.leakage(equal, both)[0] == pytest.approx(2 * eps, abs=1e-12)


def test_a_deterministic_answer_leaks_without_bound():
    shown = np.stack([1 - np.eye(2), np.eye(2)], axis=-1)
    assert finite.leakage(np.full((2, 2), 0.25), shown)[0] == math.inf
    assert finite.dp_level(shown) == math.inf


# ------------------------------------------------------ against the reference values


@pytest.mark.parametrize(
    "entry",
    entries("finite")
    + entries("trees")
    + entries("graphs", lambda e: "exact" in e and e["population"]["records"] <= 4),
)
def test_exact_reference_levels(entry):
    worst = finite.worst_case(
        chains.from_spec(entry["population"]), entry["dp_epsilon"], entry["adversary"]
    )
    assert worst.level == pytest.approx(entry["exact"], abs=1e-9)
    assert worst.upper == pytest.approx(entry["exact"], abs=1e-9)
    assert entry.get("contraction", math.inf) >= worst.level - 1e-9


@pytest.mark.parametrize(
    "entry",
    entries("markov", lambda e: e["population"]["length"] <= 5) + entries("order2"),
)
def test_reference_intervals_of_chains(entry):
    worst = finite.worst_case(
        chains.from_spec(entry["population"]), entry["dp_epsilon"], entry["adversary"]
    )
    assert worst.level == pytest.approx(entry["at_least"], abs=1e-7)
    assert worst.level <= entry["at_most"]


@pytest.mark.parametrize("entry", entries("channels"))
def test_reference_channels(entry):
    joint, channel = chains.from_spec(entry["population"]), np.array(entry["channel"])
    assert finite.leakage(joint, channel)[0] == pytest.approx(entry["bdp"], abs=1e-10)
    assert finite.dp_level(channel) == pytest.approx(entry["dp"], abs=1e-10)
    assert finite.leakage(joint, channel, "informed")[0] == pytest.approx(entry["dp"], abs=1e-10)


# ------------------------------------------------------ other routes to the same numbers


@pytest.mark.prove
@pytest.mark.parametrize("shape", [(2, 2), (3, 2), (2, 2, 2), (3, 3), (2, 2, 2, 2), (2, 3, 2)])
def test_programs_and_vertices_agree(shape):
    rng = np.random.default_rng(len(shape) * 100 + math.prod(shape))
    for _ in range(runs(20)):
        joint = mechanisms.random_joint(rng, shape, zeros=rng.choice([0.0, 0.3]))
        eps = float(rng.choice([0.05, 0.5, 2.0, 4.0]))
        adversary = str(rng.choice(finite.ADVERSARIES))
        listed = finite.worst_case(joint, eps, adversary, method="enumerate")
        solved = finite.worst_case(joint, eps, adversary, method="program")
        assert solved.level == pytest.approx(listed.level, abs=1e-10)
        assert listed.level - 1e-12 <= solved.upper <= listed.level + 1e-7
        whole = finite.worst_case(joint, eps, adversary, method="program", reduced=False)
        assert whole.level == pytest.approx(listed.level, abs=1e-8)


@pytest.mark.prove
@pytest.mark.parametrize("shape", [(2, 2), (3, 2), (2, 2, 2), (3, 3)])
def test_the_worst_case_is_the_best_two_outcome_mechanism(shape):
    """By definition: the level is the largest leakage of `c e^(eps k(x))` over the whole domain."""
    rng = np.random.default_rng(7)
    for _ in range(runs(20)):
        joint = mechanisms.random_joint(rng, shape, zeros=rng.choice([0.0, 0.25]))
        eps = float(rng.uniform(0.1, 3))
        most = 0.0
        for k in finite.vertices(shape):
            channel = mechanisms.two_outcomes(np.exp(eps * k.astype(float)).reshape(shape), eps)
            assert finite.dp_level(channel) <= eps + 1e-9
            most = max(most, finite.leakage(joint, channel)[0])
        assert finite.worst_case(joint, eps).level == pytest.approx(most, abs=1e-9)


@pytest.mark.prove
@pytest.mark.parametrize("family", mechanisms.FAMILIES)
def test_no_random_private_channel_exceeds_the_worst_case(family):
    rng = np.random.default_rng(mechanisms.FAMILIES.index(family))
    for _ in range(runs(100)):
        shape = tuple(rng.integers(2, 4, size=rng.integers(1, 4)).tolist())
        joint = mechanisms.random_joint(rng, shape, zeros=rng.choice([0.0, 0.3]))
        eps = float(rng.uniform(0.05, 3))
        channel = mechanisms.random_channel(rng, shape, eps, family)
        assert np.allclose(channel.sum(axis=-1), 1)
        assert finite.dp_level(channel) <= eps + 1e-9
        for adversary in finite.ADVERSARIES:
            leaks = finite.leakage(joint, channel, adversary)[0]
            assert leaks <= finite.worst_case(joint, eps, adversary).level + 1e-9


def test_delta_zero_is_the_pure_level():
    rng = np.random.default_rng(3)
    for shape in [(2, 2), (2, 3), (2, 2, 2)]:
        joint, eps = mechanisms.random_joint(rng, shape), 0.8
        level = finite.worst_case(joint, eps).level
        assert finite.delta_violation(joint, eps, 0.0, level, 0.0)[0] <= 1e-9
        assert finite.delta_violation(joint, eps, 0.0, level - 0.01, 0.0)[0] > 1e-5


def test_delta_of_identical_records_is_the_group_formula():
    eps, delta, n = 0.5, 1e-3, 3
    joint = np.zeros((2,) * n)
    joint[0, 0, 0] = joint[1, 1, 1] = 0.5
    grouped = delta * math.expm1(n * eps) / math.expm1(eps)
    assert finite.delta_violation(joint, eps, delta, n * eps, grouped)[0] == pytest.approx(
        0.0, abs=1e-9
    )
    fair = np.full((2, 2), 0.25)
    assert finite.delta_violation(fair, eps, delta, eps, delta)[0] == pytest.approx(0.0, abs=1e-9)


# ------------------------------------------------------ joint laws


def test_stationary_laws():
    assert chains.stationary([[0.9, 0.1], [0.3, 0.7]]) == pytest.approx([0.75, 0.25])
    assert chains.stationary([[0.0, 1.0], [1.0, 0.0]]) == pytest.approx([0.5, 0.5])
    assert chains.stationary([[0.5, 0.5], [0.0, 1.0]]).tolist() == [0.0, 1.0]
    three = np.array([[0.2, 0.5, 0.3], [0.6, 0.1, 0.3], [0.25, 0.25, 0.5]])
    assert chains.stationary(three) @ three == pytest.approx(chains.stationary(three))
    with pytest.raises(ValueError, match="closed classes"):
        chains.stationary(np.eye(2))


def test_the_same_chain_by_four_routes():
    kernel, start = np.array([[0.9, 0.1], [0.3, 0.7]]), np.array([0.2, 0.8])
    by_chain = chains.joint(kernel, start, 4)
    by_steps = chains.inhomogeneous([kernel] * 3, start)
    nodes = [{"name": "0", "law": start}]
    nodes += [{"name": str(j), "parent": str(j - 1), "transition": kernel} for j in (1, 2, 3)]
    factors = [{"between": [0], "table": start}]
    factors += [{"between": [j, j - 1], "table": kernel.T} for j in (1, 2, 3)]
    assert by_chain.sum() == pytest.approx(1)
    assert by_chain[0, 1, 1, 0] == pytest.approx(0.2 * 0.1 * 0.7 * 0.3)
    assert by_steps == pytest.approx(by_chain)
    assert chains.tree(nodes) == pytest.approx(by_chain)
    assert chains.factor_graph(4, 2, factors) == pytest.approx(by_chain)
    as_second_order = np.stack([kernel, kernel])  # a table over pairs that ignores the older record
    pairs = start[:, None] * kernel
    assert chains.joint(as_second_order, pairs, 4) == pytest.approx(by_chain)
    assert chains.joint(as_second_order, "stationary", 4) == pytest.approx(
        chains.joint(kernel, "stationary", 4)
    )
    assert chains.joint(as_second_order, pairs, 1) == pytest.approx(start)


def test_several_copies_leak_like_one():
    item = chains.joint([[0.8, 0.2], [0.4, 0.6]], "stationary", 2)
    level = finite.worst_case(item, 0.9).level
    assert finite.worst_case(chains.copies(item, 2), 0.9).level == pytest.approx(level, abs=1e-10)


# ------------------------------------------------------ Gaussian populations

NEAR = np.array([[1.0, 0.1], [0.1, 1.0]])


@pytest.mark.parametrize(
    ("secret", "expected"), [(3, 1.3196), (6, 1.4388), (30, 2.2404), (1e4, 2.4)]
)
def test_laplace_on_two_clipped_records(secret, expected):
    reached = gaussian.laplace_sum_leakage(NEAR, [0, 0], -3, 3, 1.2, [secret, -secret])
    assert reached.level == pytest.approx(expected, abs=6e-5)
    assert reached.level <= reached.upper <= reached.level + 0.002
    assert (reached.level <= 1.32) == (secret == 3)
    known = gaussian.laplace_sum_leakage(
        NEAR, [0, 0], -3, 3, 1.2, [secret, -secret], adversary="informed"
    )
    assert known.level == pytest.approx(1.2, abs=1e-9)


def test_maximum_correlation_needs_equal_variances():
    unequal = gaussian.laplace_sum_leakage([[1, 3], [3, 100]], [0, 0], -3, 3, 1.0)
    assert unequal.level == pytest.approx(1.6243, abs=6e-5)
    assert unequal.upper > 1.3  # what correlation .3 would give
    assert gaussian.shift_factor([[1, 3], [3, 100]]) == 2.0


def test_autoregression_needs_the_stationary_start():
    phi, first = 0.1, 1e4
    cov = [[first, phi * first], [phi * first, phi**2 * first + 1]]
    reached = gaussian.laplace_sum_leakage(cov, [0, 0], -3, 3, 1.0)
    assert reached.level == pytest.approx(1.9964, abs=6e-5)
    assert reached.level > (1 + phi) / (1 - phi)


def test_closed_form_integral_against_quadrature():
    rng = np.random.default_rng(11)
    for _ in range(60):
        mean, z = rng.normal() * 4, rng.uniform(-8, 8)
        sd, scale = rng.choice([0.1, 1, 10]), rng.choice([0.3, 5, 50])
        closed = float(gaussian.log_smoothed(np.array(z), mean, sd, -3, 3, scale))
        slow = gaussian.log_smoothed_by_quadrature(z, mean, sd, -3, 3, scale)
        assert closed == pytest.approx(slow, abs=1e-9)


@pytest.mark.parametrize("entry", entries("gaussian"))
def test_reference_factors(entry):
    cov = np.array(entry["population"]["covariance"])
    assert gaussian.shift_factor(cov) == pytest.approx(entry["enumerated"], abs=1e-12)
    assert gaussian.shift_factor(cov, "informed") == 1.0
    assert 1.0 <= gaussian.shift_factor(cov, "uninformed") <= gaussian.shift_factor(cov)


def random_covariance(rng: np.random.Generator, size: int) -> np.ndarray:
    root = rng.normal(size=(size, size)) + rng.uniform(0, 2) * np.eye(size)
    return root @ root.T + 0.05 * np.eye(size)


@pytest.mark.prove
def test_two_records_never_leak_more_than_the_factor():
    rng = np.random.default_rng(5)
    for _ in range(runs(200)):
        cov, mean = random_covariance(rng, 2), rng.normal(size=2) * 3
        lo = float(rng.normal() * 2)
        hi, eps = lo + float(rng.uniform(0.2, 8)), float(rng.uniform(0.1, 3))
        reached = gaussian.laplace_sum_leakage(cov, mean, lo, hi, eps, step=0.01)
        assert eps - 1e-9 <= reached.level <= eps * gaussian.shift_factor(cov) + 1e-9


@pytest.mark.prove
@pytest.mark.parametrize("adversary", finite.ADVERSARIES)
def test_coupled_draws_never_exceed_the_factor_and_come_near_it(adversary):
    rng = np.random.default_rng(6)
    for _ in range(runs(100)):
        size = int(rng.integers(2, 7))
        cov, mean = random_covariance(rng, size), rng.normal(size=size)
        width, eps = float(rng.choice([1.0, 10.0, 1e4])), float(rng.uniform(0.2, 2))
        limit = eps * gaussian.shift_factor(cov, adversary)
        for aligned in (False, True):
            trial = gaussian.coupled_trial(
                rng, cov, mean, -width / 2, width / 2, eps, adversary, draws=100, aligned=aligned
            )
            assert trial.log_ratio <= limit + 1e-9
    # power: with a wide interval the best attack reaches the factor, so a smaller one is refuted
    rng = np.random.default_rng(60)
    cov = random_covariance(rng, 4)
    best = max(
        gaussian.coupled_trial(
            rng, cov, np.zeros(4), -1e5, 1e5, 1.0, adversary, draws=50, aligned=True
        ).log_ratio
        for _ in range(200)
    )
    assert best >= gaussian.shift_factor(cov, adversary) * 0.999


def test_integrated_ratio_of_lipschitz_weights_stays_below_the_factor():
    rng = np.random.default_rng(8)
    lo, hi, eps = -2.0, 2.0, 1.1
    for _ in range(6):
        cov = random_covariance(rng, 2)
        slope, left = gaussian.conditional(cov, [1], [0])
        weight = gaussian.random_weight(rng, 2, lo, hi, eps / (hi - lo))
        ratio = gaussian.integrated_log_ratio(
            lambda side, t, weight=weight: float(weight(np.array([[side, t]]))[0]),
            slope[0, 0],
            math.sqrt(left[0, 0]),
            0.3,
            hi,
            lo,
        )
        assert ratio <= eps * (1 + min(abs(slope[0, 0]), 1)) + 1e-7
