"""Gaussian spends and readings with a delta: against exact divergences and another accountant."""

from __future__ import annotations

import hashlib
import itertools
import math
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.signal import fftconvolve
from scipy.stats import norm

from bayesdp.accounting import Ledger, Reading, Spend, total_cost
from bayesdp.accounting.costs.composition import converted, cost_for, dp_bound, level
from bayesdp.accounting.costs.spend import as_zcdp
from bayesdp.calibration import calibrate_gaussian
from bayesdp.errors import BudgetExceededError, InputError, Refusal
from bayesdp.leakage.deadline import Deadline
from bayesdp.leakage.zcdp import largest_rho, least_epsilon, reserve, shifted
from bayesdp.notions import Cost
from bayesdp.populations import Graph, MarkovChain, parse
from bayesdp.theorems import Question
from bayesdp.theorems.renyi_orders import dp_orders, orders_for
from bayesdp.theorems.with_delta import report_with_delta
from tests.effort import runs
from tests.oracles import chains, finite
from tests.oracles.mechanisms import random_joint

CHAIN = {"model": "markov", "transition": [[0.6, 0.4], [0.4, 0.6]], "length": 50}
PAIR = {"model": "gaussian", "covariance": [[1.0, 0.3], [0.3, 1.0]]}


def tail(alpha: float, tau: float, epsilon: float) -> float:
    """The delta at `epsilon` of two laws with `D_alpha <= tau` (theory 2.5); at most 1."""
    excess = alpha - 1.0
    log = excess * (tau - epsilon) - excess * math.log1p(1.0 / excess) - math.log(alpha)
    return min(1.0, math.exp(min(log, 0.0)) * (1 + 1e-12))


def spend(eps: float = 0.0, rho: float = 0.0, kind: str = "any", **other: Any) -> Spend:
    made: dict[str, Any] = {"dataset": "d", "unit": "row", "query": "q", "reads": ("x",)}
    if kind == "lipschitz":
        made |= {"column": "x", "interval": (0.0, 1.0)}
    return Spend(kind=kind, dp_epsilon=eps, rho=rho, **(made | other))


def reading(population: dict[str, Any], delta: float, total: float = 1.0, **other: Any) -> Reading:
    given: dict[str, Any] = {"population": population, "covers": ("x",), "delta": delta}
    if population["model"] in ("gaussian", "autoregressive"):
        given["interval"] = (0.0, 1.0)
    return Reading("bdp", total, **(given | other))


# -- the numbers ------------------------------------------------------------------------


def test_one_order_by_hand() -> None:
    """alpha = 11, delta = 1e-6: ln(1e6)/10 - ln(11)/10 + ln(10/11)."""
    by_hand = (13.815510557964274 - 2.3978952727983707) / 10 - 0.09531017980432493
    assert reserve(11.0, 1e-6) == pytest.approx(by_hand, rel=1e-14)
    assert reserve(11.0, 1e-6) >= by_hand
    assert tail(11.0, 1.1, 1.1 + by_hand) == pytest.approx(1e-6, rel=1e-9)


@pytest.mark.prove
def test_no_two_laws_break_an_order() -> None:
    """The largest `P(S) - e^eps Q(S)` over pairs of points, and the pair that attains it."""
    rng = np.random.default_rng(1)
    attained = 0.0
    for _ in range(runs(20_000)):
        p, q = rng.dirichlet([0.3, 0.3]), rng.dirichlet([0.3, 0.3])
        alpha, epsilon = 1.0 + float(10 ** rng.uniform(-1, 1.5)), float(rng.uniform(0, 2))
        with np.errstate(divide="ignore", over="ignore"):
            moment = float(np.sum(p**alpha * q ** (1.0 - alpha)))
        if not math.isfinite(moment):
            continue
        tau = math.log(moment) / (alpha - 1.0)
        worst = float(np.maximum(p - math.exp(epsilon) * q, 0.0).sum())
        assert worst <= tail(alpha, max(tau, 0.0), epsilon) * (1 + 1e-9)
        attained = max(attained, worst / tail(alpha, max(tau, 0.0), epsilon))
    assert attained > 0.9


def test_golden_section_finds_the_best_order() -> None:
    rng = np.random.default_rng(2)
    for _ in range(50):
        rho, delta = float(10 ** rng.uniform(-8, 2)), float(10 ** rng.uniform(-12, -1))
        level = least_epsilon(lambda alpha, r=rho: r * alpha, delta).epsilon
        grid = 1.0 + np.exp(np.linspace(math.log(1e-5), math.log(1e8), 4000))
        best = min(rho * a + reserve(a, delta) for a in grid)
        assert level <= best * (1 + 1e-12)
        assert level == pytest.approx(best, rel=2e-2)
        back = largest_rho(level, delta).rho.value
        assert back == pytest.approx(rho, rel=1e-6)


def test_never_below_the_privacy_loss_distribution() -> None:
    """A second accountant, for the very same discrete Gaussian noise, composed."""
    pld = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    for sigma, times, delta in ((4.0, 1, 1e-6), (2.0, 3, 1e-4), (10.0, 20, 1e-7), (0.7, 2, 1e-3)):
        item = pld.from_discrete_gaussian_mechanism(sigma, value_discretization_interval=1e-4)
        exact = item.self_compose(times).get_epsilon_for_delta(delta)
        spends = [spend(rho=1 / (2 * sigma**2))] * times
        for fixed in (True, False):
            level = dp_bound(Reading("dp", exact, delta=delta), spends, fixed=fixed).epsilon
            assert level >= exact, (sigma, times, delta)
        assert dp_bound(Reading("dp", exact, delta=delta), spends, fixed=True).epsilon < 1.3 * exact


def test_close_to_the_noise_by_its_exact_curve() -> None:
    """`calibrate_gaussian` uses the discrete law's own curve, a ledger keeps only its zCDP cost."""
    for spec in (CHAIN, {"model": "clusters", "size": 2}):
        noise = calibrate_gaussian(parse(spec), 1.0, 1e-5)
        spends = [spend(rho=1 / (2 * noise.sigma**2))]
        level = converted(reading(spec, 1e-5), spends, fixed=True).best.epsilon
        exact = 1.0 if spec is CHAIN else 0.8  # clusters: group privacy of zCDP is the sharper one
        assert exact <= level < 1.3, spec


def test_pure_and_gaussian_together() -> None:
    read = Reading("dp", 1.0, delta=1e-6)
    mixed = dp_bound(read, [spend(0.3), spend(rho=0.01)], fixed=True)
    alone = dp_bound(read, [spend(rho=0.01)], fixed=True)
    assert mixed.epsilon == pytest.approx(alone.epsilon + 0.3, rel=1e-12)
    # Many small pure costs are better counted as zCDP, few are not.
    many = dp_bound(read, [spend(0.01)] * 400, fixed=True)
    assert many.proof["counted"] == "zcdp"
    assert many.epsilon == pytest.approx(
        least_epsilon(lambda alpha: 400 * 0.01**2 / 2 * alpha, 1e-6).epsilon, rel=1e-9
    )
    assert many.epsilon < 0.5 * 4.0
    assert dp_bound(read, [spend(0.5)], fixed=True).epsilon == 0.5
    assert level(read, [spend(0.5)]) == 0.5


def test_group_privacy_and_its_own_pure_part() -> None:
    read = reading({"model": "clusters", "size": 3}, 1e-6)
    best_bound = converted(read, [spend(0.1), spend(rho=0.002)], fixed=True).best
    assert best_bound.epsilon == pytest.approx(
        3 * 0.1 + least_epsilon(lambda alpha: 9 * 0.002 * alpha, 1e-6).epsilon, rel=1e-12
    )


def test_gaussian_records_by_kind() -> None:
    """Factor 1.3 on what is Lipschitz, 2 on the rest; squared on zCDP."""
    read = reading(PAIR, 1e-6)
    slack = 0.01 * 2.0**-40
    spends = [
        spend(rho=0.01, kind="lipschitz", slack=slack),
        spend(rho=0.002),
        spend(0.1, kind="lipschitz", slack=1e-7),
        spend(0.2),
    ]
    cost = cost_for(read, spends)
    assert (cost.rho_lipschitz, cost.rho_any, cost.rho_slack) == (0.01, 0.002, slack)
    assert (cost.lipschitz, cost.any, cost.slack) == (0.1, 0.2, 1e-7)
    rho = 0.01 * (1.3 + 2.0**-20) ** 2 + 4 * 0.002
    pure = 1.3 * 0.1 + 1e-7 + 2 * 0.2
    due = pure + least_epsilon(lambda alpha: alpha * rho, 1e-6).epsilon
    best_bound = converted(read, spends, fixed=True).best
    assert best_bound.proof["counted"] == "pure"
    assert best_bound.epsilon == pytest.approx(due, rel=1e-9)
    assert best_bound.epsilon >= due * (1 - 1e-13)
    unbounded = reading(PAIR, 1e-6, secrets="unbounded")
    assert converted(unbounded, spends, fixed=True).best.theorem == "cluster-size"


def test_the_slack_is_that_of_the_longer_shift() -> None:
    """`(f D + (m - 1) x)^2 / (2 s2)` from `D^2 / (2 s2)` and `x^2 / (2 s2)`."""
    d, x, s2, factor, others = 1000.0, 2.0, 5e5, 1.7, 3
    due = (factor * d + others * x) ** 2 / (2 * s2)
    actual = shifted(factor, d**2 / (2 * s2), others, x**2 / (2 * s2))
    assert due <= actual <= due * (1 + 1e-12)


# -- what may be kept -------------------------------------------------------------------


def test_a_spend_is_pure_or_gaussian() -> None:
    for wrong in ({"eps": 0.1, "rho": 0.1}, {"rho": -0.1}, {}, {"rho": math.nan}):
        with pytest.raises(InputError):
            spend(**wrong)
    plain = spend(rho=0.25).to_dict()
    assert Spend.from_dict(plain) == spend(rho=0.25)
    del plain["rho"]
    with pytest.raises(InputError):
        Spend.from_dict(plain)
    old = spend(0.5).to_dict()
    del old["rho"]
    assert Spend.from_dict(old).rho == 0.0
    assert as_zcdp(spend(1e-200)).rho > 0.0
    assert as_zcdp(spend(0.5, 0.0, "lipschitz", slack=0.25)).slack == 0.03125
    assert total_cost([spend(rho=0.25), spend(0.5)]).dp_epsilon == 0.5


def test_keys_without_a_delta_are_as_before() -> None:
    assert Reading("dp", 1.0).key() == hashlib.sha256(b'{"notion":"dp","total":1}').hexdigest()
    with_delta = Reading("dp", 1.0, delta=1e-6)
    assert with_delta.key() != Reading("dp", 1.0).key()
    assert with_delta.subject_key() != Reading("dp", 1.0).subject_key()
    assert Reading.from_dict(with_delta.to_dict()) == with_delta
    old = Reading("bdp", 1.0, CHAIN).to_dict()
    del old["delta"]
    assert Reading.from_dict(old).key() == Reading("bdp", 1.0, CHAIN).key()
    assert "1e-06" in with_delta.words()
    for wrong in (-0.1, 1.0, math.nan):
        with pytest.raises(InputError):
            Reading("dp", 1.0, delta=wrong)


def test_without_a_delta_gaussian_spends_are_refused() -> None:
    for read in (
        Reading("dp", 99.0),
        reading(CHAIN, 0.0),
        reading(PAIR, 0.0, adversary="informed"),
    ):
        with pytest.raises(Refusal, match="delta"):
            level(read, [spend(0.1), spend(rho=1e-6)])


def debit(ledger: Ledger, *spends: Spend) -> str:
    return ledger.debit("d", "row", spends, study="s.toml", request={"query": "q"})


def test_a_ledger_with_both_kinds_of_reading(tmp_path: Path) -> None:
    book = Ledger(tmp_path / "l.db", level=level)
    book.register("d", "row", Reading("dp", 1.0, delta=1e-6))
    debit(book, spend(rho=0.005), spend(0.1))
    book.register("d", "row", reading(CHAIN, 1e-6, total=5.0))
    with pytest.raises(Refusal, match="delta"):
        book.register("d", "row", Reading("dp", 99.0))
    assert [spend.rho for spend in book.spends("d")] == [0.005, 0.0]
    (shown,) = book.show()
    assert [line["delta"] for line in shown["readings"]] == [1e-6, 1e-6]
    with pytest.raises(BudgetExceededError, match="At 0"):
        debit(book, spend(rho=0.02))
    pure = Ledger(tmp_path / "p.db", level=level)
    pure.register("d", "row", Reading("dp", 1.0))
    with pytest.raises(Refusal, match="delta"):
        debit(pure, spend(rho=1e-9))
    assert pure.spends("d") == []
    debit(pure, spend(0.25))


def test_a_level_never_falls_when_something_is_spent() -> None:
    rng = np.random.default_rng(3)
    family = {"model": "family", "members": [PAIR, {"model": "clusters", "size": 3}]}
    populations = [PAIR, CHAIN, {"model": "independent"}, {"model": "clusters", "size": 4}, family]
    for _ in range(runs(300)):
        population = populations[rng.integers(len(populations))]
        read = reading(
            population,
            float(10 ** rng.uniform(-9, -0.5)),
            total=float(10 ** rng.uniform(-1, 1)),
            adversary=str(rng.choice(["any", "uninformed", "informed"])),
        )
        spends: list[Spend] = []
        before = level(read, spends)
        assert before <= 5e-324
        for _ in range(4):
            size, kind = float(10 ** rng.uniform(-4, 0)), str(rng.choice(["any", "lipschitz"]))
            new = spend(size, 0.0, kind) if rng.random() < 0.5 else spend(0.0, size / 10, kind)
            spends.append(new)
            after = level(read, spends)
            assert after >= before * (1 - 1e-12), (read, spends)
            assert converted(read, spends, fixed=True).best.epsilon <= after * (1 + 1e-6)
            before = after


# -- costs that depend on answers -------------------------------------------------------


def worst_steering(total: float, delta: float, left: Any, steps: int = 40) -> float:
    """The delta of somebody who buys Gaussian noise in small steps, looks, and at some point puts
    all that the rule `left(rho)` allows into randomized response; by backward induction."""
    most = largest_rho(total, delta).rho.value
    spent = np.linspace(0.0, most, steps + 1)
    step, spread = most / steps, math.sqrt(2 * most)
    ahead = 20  # a step's drift in points: nothing is interpolated but the value at the start
    unit = step / ahead
    loss = np.arange(-8 * spread - total, 8 * spread + 2 * total, unit)
    reach = math.ceil(8 * math.sqrt(2 * step) / unit)
    weights = norm.pdf(np.arange(-reach, reach + 1) * unit, 0.0, math.sqrt(2 * step))

    def gain(x: np.ndarray) -> np.ndarray:
        return np.maximum(0.0, -np.expm1(total - x))

    value = gain(loss)
    for k in range(steps - 1, -1, -1):
        following = fftconvolve(value, weights / weights.sum(), "same")
        value = np.r_[following[ahead:], np.full(ahead, following[-1])]
        pure = left(spent[k])
        if pure > 0.0:
            true = 1.0 / (1.0 + math.exp(-pure))
            value = np.maximum(value, true * gain(loss + pure) + (1 - true) * gain(loss - pure))
    return float(np.interp(0.0, loss, value))


def test_orders_must_be_fixed_before_answers_are_seen() -> None:
    """With the best order for whatever was spent, delta is exceeded: theory 2.6."""
    total, delta = 3.0, 1e-3

    def best(rho: float) -> float:
        used = least_epsilon(lambda alpha: alpha * rho, delta).epsilon if rho else 0.0
        return total - used

    def fixed(rho: float) -> float:
        if rho == 0.0:
            return total
        return max(
            total - m.alpha * rho - reserve(m.alpha, m.delta) for m in dp_orders(total, delta)
        )

    assert worst_steering(total, delta, best) > 1.3 * delta
    assert worst_steering(total, delta, fixed) <= delta


def worst_stopping(total: float, delta: float, steps: int, stated: Any) -> float:
    """The largest `E[(1 - e^(level - loss))+]` over strategies: what to buy next, when to stop.

    `stated` is the level of the spends so far. Offers are randomized responses, and Gaussian noise
    whose results are told in six classes; losses are exact, by backward induction.
    """
    offers: list[tuple[Spend, list[tuple[float, float]]]] = []
    for eps in (total / 4, total / 2):
        less = 1 / (1 + math.exp(-eps))
        offers.append((spend(eps), [(less, eps), (1 - less, -eps)]))
    for share in (0.1, 0.4, 1.0):
        rho = share * total**2 / (8 * math.log(1 / delta))
        sigma = 1 / math.sqrt(2 * rho)
        inner = 0.5 + np.linspace(-2.5 * sigma, 2.5 * sigma, 5)
        edges = np.concatenate([[-np.inf], inner, [np.inf]])
        first, second = (np.diff(norm.cdf(edges, mean, sigma)) for mean in (1.0, 0.0))
        losses = list(zip(first.tolist(), np.log(first / second).tolist(), strict=True))
        offers.append((spend(rho=rho), losses))
    levels: dict[tuple[int, ...], float] = {}

    @cache
    def best(paid: tuple[int, ...], loss: float) -> float:
        value = 0.0
        if paid:
            if paid not in levels:
                levels[paid] = stated([offers[k][0] for k in paid])
            value = max(0.0, 1.0 - math.exp(levels[paid] - loss))
        if len(paid) < steps:
            for k, (_, outcomes) in enumerate(offers):
                after = tuple(sorted((*paid, k)))
                value = max(value, sum(p * best(after, round(loss + z, 9)) for p, z in outcomes))
        return value

    return best((), 0.0)


@pytest.mark.parametrize(("total", "delta"), [(1.0, 0.02), (3.0, 0.05), (1.0, 0.01)])
def test_the_level_so_far_holds_whenever_somebody_stops(total: float, delta: float) -> None:
    """Theory 2.6: the level "now and before" is safe, although costs and moment were chosen."""
    kept = Reading("dp", total, delta=delta)
    assert worst_stopping(total, delta, 3, lambda spends: level(kept, spends)) <= delta

    def without_reserve(spends: list[Spend]) -> float:
        """What is wrong: the divergence itself, with nothing set aside for delta."""
        least = min(reserve(order.alpha, order.delta) for order in dp_orders(total, delta))
        return level(kept, spends) - least

    assert worst_stopping(total, delta, 3, without_reserve) > delta


def test_shares_of_delta_and_orders() -> None:
    for question in (
        Question(MarkovChain(**{k: CHAIN[k] for k in ("transition", "length")})),
        Question(parse({"model": "clusters", "size": 3})),
        Question(parse({"model": "graph", "grid": [2, 3], "states": 2, "table": [[2, 1], [1, 2]]})),
    ):
        orders = orders_for(question, 1.0, 1e-6)
        assert sum(order.delta for order in orders) <= 1e-6
        assert sum(order.delta for order in orders) > 0.999e-6
        assert len({order.alpha for order in orders}) == len(orders)
        points = isinstance(question.population, MarkovChain | Graph)
        assert all(bool(order.dp_delta) == points for order in orders)
        # They are the same on a busy machine, and however long somebody waits for a level.
        for other in (replace(question, seconds=1e-3), replace(question, deadline=Deadline(0.0))):
            assert orders_for(other, 1.0, 1e-6) == orders


# -- brute force ------------------------------------------------------------------------


def gaussian_channel(shape: tuple[int, ...], sigma: float) -> np.ndarray:
    """The sum of the records plus discrete Gaussian noise, on all integers that count."""
    sums = np.add.reduce(np.indices(shape), axis=0)
    reach = math.ceil(12 * sigma) + sum(shape)
    points = np.arange(-reach, reach + 1)
    law = np.exp(-((points - sums[..., None]) ** 2) / (2 * sigma**2))
    return law / law.sum(axis=-1, keepdims=True)


def worst_delta(joint: np.ndarray, channel: np.ndarray, epsilon: float, adversary: str) -> float:
    """The largest `P[Y in S | x_i, x_K] - e^epsilon P[Y in S | x_i', x_K]`: exact."""
    n, worst = joint.ndim, 0.0
    for record in range(n):
        for known in finite.known_sets(n, record, adversary):
            unknown = tuple(k for k in range(n) if k != record and k not in known)
            mass = joint.sum(axis=unknown, keepdims=True)
            both = (joint[..., None] * channel).sum(axis=unknown, keepdims=True)
            with np.errstate(invalid="ignore", divide="ignore"):
                laws = np.moveaxis(both / mass[..., None], record, 0)
            for a, b in itertools.permutations(range(joint.shape[record]), 2):
                over = np.maximum(laws[a] - math.exp(epsilon) * laws[b], 0.0).sum(axis=-1)
                worst = max(worst, float(np.nan_to_num(over, nan=0.0).max()))
    return worst


def random_population(rng: np.random.Generator) -> tuple[dict[str, Any], np.ndarray]:
    kind = rng.integers(4)
    if kind == 3:
        joint = random_joint(rng, (2,) * int(rng.integers(1, 4)), 0.2)
        return {"model": "finite", "probabilities": joint.tolist()}, joint
    if kind == 0:
        joint = random_joint(rng, (2,) * int(rng.integers(1, 4)), 0.2)
        return {"model": "clusters", "size": joint.ndim}, joint
    if kind == 1:
        rows = 0.5 * rng.dirichlet(np.ones(2), size=2) + 0.25
        spec = {"model": "markov", "transition": rows.tolist(), "length": int(rng.integers(2, 5))}
        start = chains.stationary(rows)
        return spec, chains.joint(rows, start, spec["length"])
    table = np.exp(rng.uniform(0.0, 0.8, (2, 2)))
    factors = [{"between": [j, (j + 1) % 3], "table": table.tolist()} for j in range(3)]
    spec = {"model": "graph", "records": 3, "states": 2, "factors": factors}
    joint = np.einsum("ab,bc,ca->abc", table, table, table)
    return spec, joint / joint.sum()


def test_levels_on_finite_populations() -> None:
    """A pure and a Gaussian query, the Gaussian's noise chosen by the pure one's answer."""
    rng = np.random.default_rng(4)
    closest = 0.0
    for _ in range(runs(300)):
        spec, joint = random_population(rng)
        sigma = float(rng.uniform(0.8, 4.0))
        pure = float(rng.uniform(0.05, 1.0)) if rng.random() < 0.7 else 0.0
        delta = float(10 ** rng.uniform(-6, -1.5))
        adversary = str(rng.choice(["any", "uninformed", "informed"]))
        spends = [spend(rho=1 / (2 * sigma**2))] + ([spend(pure)] if pure else [])
        read = reading(spec, delta, total=float(rng.uniform(0.5, 5.0)), adversary=adversary)
        shape = joint.shape
        channel = gaussian_channel(shape, sigma)
        if pure:
            # Randomized response on the first record; then the sum, or the sum of the others.
            true = math.exp(pure) / (1 + math.exp(pure))
            first = np.where(np.indices(shape)[0] == 0, true, 1 - true)[..., None]
            other = np.broadcast_to(channel[:1], channel.shape)
            channel = np.concatenate([first * channel, (1 - first) * other], axis=-1)
        for fixed in (True, False):
            best_bound = converted(read, spends, fixed=fixed).best
            if not math.isfinite(best_bound.epsilon):
                continue
            due = worst_delta(joint, channel, best_bound.epsilon, adversary)
            assert due <= best_bound.delta * (1 + 1e-9), (spec, spends, read, best_bound)
            closest = max(closest, due / best_bound.delta)
    assert closest > 0.05


def test_points_against_every_mechanism() -> None:
    """The linear program over all events of mechanisms at the point never exceeds the level."""
    rng = np.random.default_rng(5)
    closest = 0.0
    for number in range(runs(60)):
        rows = 0.6 * rng.dirichlet(np.ones(2), size=2) + 0.2
        length = int(rng.integers(2, 4))
        spec = {"model": "markov", "transition": rows.tolist(), "length": length}
        spends = [spend(rho=float(10 ** rng.uniform(-4, -1))), spend(0.1)]
        read = reading(spec, float(10 ** rng.uniform(-5, -1)), total=3.0)
        report = converted(read, spends, fixed=number % 2 == 0)
        points = [b for b in report.bounds if b.proof.get("way") == "point"]
        for actual in points:
            point = actual.proof["dp_epsilon"], actual.proof["dp_delta"]
            joint = chains.joint(rows, chains.stationary(rows), length)
            over, _ = finite.delta_violation(joint, *point, actual.epsilon, 0.0, "any")
            assert over <= actual.delta * (1 + 1e-6) + 1e-9
            closest = max(closest, over / actual.delta)
            # The point's delta has room for what the conversion makes of it, and is on the curve.
            assert actual.proof["dp_delta"] < actual.delta
            cost = total_cost(
                spends if actual.proof["counted"] == "pure" else [as_zcdp(s) for s in spends]
            )
            due = cost.dp_epsilon + actual.proof["alpha"] * cost.rho
            assert tail(actual.proof["alpha"], due, point[0]) <= point[1] * (1 + 1e-9)
    assert closest > 0.5


def test_identical_records_nearly_attain_group_privacy() -> None:
    joint = np.zeros((2, 2, 2))
    joint[0, 0, 0] = joint[1, 1, 1] = 0.5
    sigma, delta = 8.0, 1e-4
    read = reading({"model": "clusters", "size": 3}, delta)
    level = converted(read, [spend(rho=1 / (2 * sigma**2))], fixed=True).best.epsilon
    channel = gaussian_channel(joint.shape, sigma)
    assert worst_delta(joint, channel, level, "any") <= delta
    assert worst_delta(joint, channel, 0.85 * level, "any") > delta
    # With m rho in place of m^2 rho it would be false.
    linear = least_epsilon(lambda alpha: alpha * 3 / (2 * sigma**2), delta).epsilon
    assert worst_delta(joint, channel, linear, "any") > delta


def pair_delta(corr: float, sigma: float, epsilon: float, secrets: tuple[float, float]) -> float:
    """Two records of variance 1, clipped to [0, 1], their sum with normal noise; by quadrature."""
    nodes, weights = np.polynomial.legendre.leggauss(40)
    inside, weight = (nodes + 1) / 2, weights / 2
    sd = math.sqrt(1 - corr**2)
    y = np.linspace(-10 * sigma, 10 * sigma + 2, 1201)
    laws = []
    for secret in secrets:
        mean = corr * secret
        law = norm.cdf(0, mean, sd) * norm.pdf(y, secret, sigma)
        law = law + norm.sf(1, mean, sd) * norm.pdf(y, secret + 1, sigma)
        away = (y[:, None] - secret - inside[None, :]) / sigma
        mixed = np.exp(-away * away / 2) / (sigma * math.sqrt(2 * math.pi))
        laws.append(law + mixed @ (weight * norm.pdf(inside, mean, sd)))
    over = np.maximum(laws[0] - math.exp(epsilon) * laws[1], 0.0)
    return float(over.sum() * (y[1] - y[0]))


def test_gaussian_pairs_by_integration() -> None:
    for corr in (-0.8, 0.1, 0.9):
        spec = {"model": "gaussian", "covariance": [[1.0, corr], [corr, 1.0]]}
        for sigma, delta in ((0.5, 1e-2), (1.5, 1e-3), (4.0, 1e-5)):
            read = reading(spec, delta)
            for fixed in (True, False):
                spends = [spend(rho=1 / (2 * sigma**2), kind="lipschitz")]
                best_bound = converted(read, spends, fixed=fixed).best
                for secrets in ((1.0, 0.0), (0.0, 1.0), (0.7, 0.1)):
                    assert pair_delta(corr, sigma, best_bound.epsilon, secrets) <= best_bound.delta
    # Without the other record's movement it would be false.
    alone = dp_bound(Reading("dp", 1.0, delta=1e-5), [spend(rho=1 / 32)], fixed=True).epsilon
    assert pair_delta(0.9, 4.0, alone, (1.0, 0.0)) > 1e-5


def test_costs_that_mean_nothing_are_refused() -> None:
    for wrong in ({"rho_any": -1.0}, {"rho_slack": math.inf}, {"rho_lipschitz": math.nan}):
        with pytest.raises(ValueError, match="rho"):
            Cost(**wrong)
    assert Cost.of(0.5, "lipschitz", rho=0.1).rho == 0.1
    assert not Cost(rho_any=1e-9).is_zero


@pytest.mark.parametrize("delta", [1e-6, 1e-30])
@pytest.mark.parametrize("total", [0.1, 690.0, 1000.0, 1e6])
def test_a_ledger_of_any_total_has_levels(total: float, delta: float) -> None:
    """Of large totals no point of the curve has a delta that a double can hold."""
    spec = {"model": "markov", "transition": [[0.7, 0.3], [0.2, 0.8]], "length": 4}
    read = Reading("bdp", total, population=spec, covers=("x",), delta=delta)
    orders = orders_for(Question(parse(spec)), total, delta)
    assert sum(order.delta for order in orders) <= delta
    assert len({order.dp_delta > 0.0 for order in orders}) == 1
    small = level(read, [spend(rho=1e-9 * total**2 / (1.0 + total))])
    assert 0.0 < small <= total


def test_a_delta_that_doubles_can_hardly_hold_is_refused() -> None:
    question = Question(parse(CHAIN))
    with pytest.raises(InputError, match="1e-290"):
        report_with_delta(question, Cost(rho_any=0.5), 5e-324)
