"""Time limits, by clocks that only the test moves; and levels that grow with the cost."""

from __future__ import annotations

import json
import math
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from bayesdp import calibration
from bayesdp.errors import InputError
from bayesdp.kernel import check
from bayesdp.kernel.models.joints import parts
from bayesdp.kernel.rules import finite_law as rule
from bayesdp.leakage import states
from bayesdp.leakage.closing import closed
from bayesdp.leakage.deadline import NEVER, Deadline, OutOfTimeError
from bayesdp.leakage.lipschitz import quiet_solver
from bayesdp.leakage.states import StateChain, StatesLevel
from bayesdp.leakage.stationary import stationary_law
from bayesdp.notions import Adversary, Cost
from bayesdp.populations import Family, Graph, MarkovChain, Population, Tree, parse
from bayesdp.populations.joint import NoJointError, parts_of
from bayesdp.release.certificates.certify import conversion_certificate
from bayesdp.statements.populations import law_of, read_population
from bayesdp.theorems import (
    REGISTRY,
    Question,
    Refused,
    best_bound,
    finite_law,
    leakage,
    markov_recursion,
    quickest_first,
    report,
)
from tests.effort import runs
from tests.kernel import honest

MIXED = (0.0005, 0.999, 0.0005), (0.999, 0.0005, 0.0005), (0.0005, 0.0005, 0.999)
SLOW = MarkovChain(
    transition=(
        (MIXED[0], MIXED[1], MIXED[0]),
        (MIXED[0], MIXED[2], MIXED[2]),
        (MIXED[0], MIXED[1], MIXED[0]),
    ),
    order=2,
    length=3,
)
"""Finite-law answers at once; the recursion on pairs needs thousands of rounds."""
LONG = 1_000_000_000
PERIODIC = MarkovChain(transition=((0, 1, 0), (0, 0.5, 0.5), (1, 0, 0)), length=LONG)
STUCK = MarkovChain(transition=((1, 1e-300), (1e-300, 1)), length=LONG)


class Clock:
    """Goes on by `tick` seconds whenever somebody looks at it."""

    def __init__(self, tick: float) -> None:
        self.tick, self.now, self.looks = tick, 0.0, 0

    def __call__(self) -> float:
        self.looks += 1
        self.now += self.tick
        return self.now


def dense(states: int, order: int = 1) -> MarkovChain:
    rng = np.random.default_rng(states + 10 * order)
    table = rng.dirichlet(np.ones(states), size=states**order)
    return MarkovChain(transition=table.reshape((states,) * (order + 1)), order=order, length=10**6)


def tree(records: int) -> Tree:
    rows = [[0.8, 0.1, 0.1], [0.1, 0.7, 0.2], [0.2, 0.2, 0.6]]
    nodes = [{"name": "0", "law": [0.2, 0.3, 0.5]}] + [
        {"name": str(i), "parent": str((i - 1) // 2), "transition": rows} for i in range(1, records)
    ]
    return Tree(nodes=nodes)


# -- deadlines --------------------------------------------------------------------------


def test_a_deadline_passes_and_its_parts_pass_no_later() -> None:
    clock = Clock(1.0)
    deadline = Deadline(10.0, clock)
    part = deadline.within(100.0)
    clock.now = 9.0
    assert not deadline.passed
    clock.now = 11.0
    assert deadline.passed
    assert part.passed
    assert part.left == 0.0
    with pytest.raises(OutOfTimeError, match="10 s"):
        deadline.check()
    NEVER.check()
    assert NEVER.left == math.inf
    assert NEVER.within(3.0).seconds == 3.0


def test_caches_take_all_deadlines_for_one() -> None:
    assert len({NEVER, Deadline(1.0), Deadline(2.0)}) == 1
    assert Question(STUCK) == Question(STUCK, deadline=Deadline(1.0))


@pytest.mark.parametrize(
    ("population", "theorem", "adversary"),
    [
        (dense(5), "markov-recursion", "uninformed"),
        (dense(4), "markov-threshold", "uninformed"),
        (dense(2, order=3), "markov-recursion", "uninformed"),
        (PERIODIC, "markov-recursion", "any"),
        (tree(40), "tree-recursion", "uninformed"),
        (
            MarkovChain(transition=((0.9, 0.1), (0.1, 0.9)), length=7),
            "finite-law",
            "uninformed",
        ),
        (
            MarkovChain(transition=((0.99, 0.01), (0.02, 0.98)), initial=(1, 0), length=LONG),
            "markov-recursion",
            "any",
        ),
    ],
)
def test_every_engine_stops_at_its_deadline(
    population: Population, theorem: str, adversary: Adversary
) -> None:
    """The clock runs out at the second look; whoever looks no more goes on, and is found out."""
    clock = Clock(0.6)
    question = Question(population, adversary, deadline=Deadline(math.inf, clock))
    asked = next(case for case in REGISTRY if case.name == theorem)
    item = Question(population, adversary, deadline=Deadline(1.0, clock))
    with pytest.raises(OutOfTimeError):
        asked.refusal(item, Cost(any=0.7)) or asked.bound(item, Cost(any=0.7))
    assert clock.looks <= 6
    actual = report(question, Cost(any=0.7))
    reasons = {r.theorem: r.reason for r in actual.refused}
    assert "took longer than the 1 s allowed" in reasons[theorem]
    assert "seconds" in reasons[theorem]
    # And nothing of that was kept: with time it answers.
    full = report(Question(population, adversary, seconds=1e9), Cost(any=0.7))
    assert theorem in {bound.theorem for bound in full.bounds}
    assert full.best.epsilon <= actual.best.epsilon


def test_messages_that_come_from_above_are_proven_at_any_time() -> None:
    graph = Graph(grid=(6, 6), states=2, table=((0.7, 0.3), (0.2, 0.8)))
    hurried = report(Question(graph, deadline=Deadline(0.0, Clock(1.0))), Cost(any=1.0))
    calm = report(Question(graph), Cost(any=1.0))
    levels = [
        next(b.epsilon for b in actual.bounds if b.theorem == "graph-contraction")
        for actual in (hurried, calm)
    ]
    assert levels[0] >= levels[1] > 1.0
    assert levels[0] <= 36.0 * (1.0 + 1e-12)


def test_each_member_of_a_family_has_its_own_time() -> None:
    clock = Clock(0.05)
    two = [MarkovChain(transition=((1 - x, x), (x, 1 - x)), length=50) for x in (0.1, 0.2)]
    family = Family(members=tuple(two * 3))
    actual = report(
        Question(family, seconds=1.0, deadline=Deadline(math.inf, clock)), Cost(any=1.0)
    )
    assert {item["theorem"] for item in actual.best.evidence["members"]} == {"markov-recursion"}


def test_the_whole_of_a_search_has_a_deadline_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a level takes: the answer is the best point so far, with the bound it had then."""
    clock = Clock(5.0)
    monkeypatch.setattr(calibration, "Deadline", partial(Deadline, clock=clock))
    asked = []
    original = calibration.best_bound

    def spied(question: Question, cost: Cost, **options: Any) -> object:
        asked.append(cost.dp_epsilon)
        return original(question, cost, **options)

    monkeypatch.setattr(calibration, "best_bound", spied)
    chain = MarkovChain(transition=((0.9, 0.1), (0.1, 0.9)), length=30)
    actual = calibration.calibrate(chain, 1.0)
    assert actual.certified_epsilon <= 1.0
    assert actual.dp_epsilon in asked
    # 60 s are twelve ticks, and every level looks at the clock.
    assert len(asked) <= 12
    slower = leakage(chain, actual.dp_epsilon).best.epsilon
    assert slower <= actual.certified_epsilon


# -- quick theorems first ------------------------------------------------------------------


def test_quick_theorems_are_asked_first() -> None:
    names = [theorem.name for theorem in quickest_first(Question(SLOW, "uninformed"))]
    assert names.index("finite-law") < names.index("markov-recursion")
    two = MarkovChain(transition=((0.9, 0.1), (0.1, 0.9)), length=8)
    names = [theorem.name for theorem in quickest_first(Question(two))]
    assert names.index("markov-recursion") < names.index("finite-law")


def test_a_search_asks_nobody_once_a_level_is_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> float:
        raise AssertionError

    monkeypatch.setattr(markov_recursion, "uninformed_tuple_level", never)
    calibration = SLOW.calibrate(0.001, adversary="uninformed")
    assert calibration.theorem == "finite-law"
    assert calibration.certified_epsilon == pytest.approx(0.001, rel=1e-9)
    assert calibration.dp_epsilon == pytest.approx(0.00033361147262625, rel=1e-9)


def test_where_a_level_is_exact_others_get_little_time() -> None:
    clock = Clock(0.002)
    question = Question(SLOW, "uninformed", seconds=30.0, deadline=Deadline(math.inf, clock))
    actual = report(question, Cost(any=0.001))
    assert (actual.best.theorem, actual.best.tight) == ("finite-law", "exact")
    assert actual.best.epsilon == pytest.approx(0.0029974989997350, rel=1e-9)
    reasons = {refusal.theorem: refusal.reason for refusal in actual.refused}
    assert "another theorem has the exact level" in reasons["markov-recursion"]
    assert isinstance(actual.refused[0], Refused)


# -- tails that nobody reaches from below ----------------------------------------------------


@pytest.mark.parametrize("dp_epsilon", [0.001, 0.01, 0.1, 0.5])
def test_a_chain_that_all_but_never_changes(dp_epsilon: float) -> None:
    """By hand: `C = 1e300 (1 - e^-eps)` on each side, so `L = eps + 2 ln C`."""
    report = leakage(STUCK, dp_epsilon, adversary="uninformed")
    by_hand = dp_epsilon + 2.0 * (300.0 * math.log(10.0) + math.log(-math.expm1(-dp_epsilon)))
    assert report.best.theorem == "markov-recursion"
    # Roundings add up as slowly as a step contracts: by about 1 / eps.
    assert report.best.epsilon == pytest.approx(by_hand, rel=1e-9)
    assert report.best.epsilon >= by_hand * (1.0 - 1e-14)
    certificate = json.loads(conversion_certificate(STUCK, report).to_json())
    assert certificate["claim"]["epsilon"] == pytest.approx(by_hand, rel=1e-9)
    assert check(certificate).verdict == "VALID ASSUMING"


def test_a_tail_proves_no_more_than_there_is() -> None:
    """A witness that is too low closes nothing: the chain is followed further, or given up."""
    from bayesdp.kernel import InvalidError, UnknownError, certified_level

    report = leakage(STUCK, 0.5, adversary="uninformed")
    step = json.loads(conversion_certificate(STUCK, report).to_json())["derivation"]
    right = step["conclusion"]["epsilon"]
    for log in (0.0, 600.0, 689.0, 691.0, 700.0, 99_999.0):
        side = [[0.0, log], [log, 0.0]]
        step["evidence"]["details"] = {"steps": 0, "closed": [side, side]}
        try:
            assert certified_level(step) >= right * (1.0 - 1e-12)
        except (InvalidError, UnknownError):
            assert log < 690.0
    nan = [[0.0, math.nan], [1.0, 0.0]]
    for bad in ([side], [side, [[0.0]]], [nan, nan], [side, [[0.0, -1.0], [0, 0]]], [[], []], 3):
        step["evidence"]["details"] = {"steps": 0, "closed": bad}
        with pytest.raises((InvalidError, UnknownError)):
            certified_level(step)


def test_the_kernel_counts_its_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """32 tuples, where less work is allowed."""
    from bayesdp.kernel import UnknownError, certified_level

    monkeypatch.setattr("bayesdp.kernel.rules.markov_recursion.MOST_WORK", 1_000)
    chain = dense(2, order=5)
    report = leakage(chain, 0.1, adversary="uninformed", seconds=0.01)
    step = json.loads(conversion_certificate(chain, report).to_json())["derivation"]
    step["rule"] = "markov-recursion"
    step["evidence"]["details"] = {}
    with pytest.raises(UnknownError, match="too long"):
        certified_level(step)


def test_a_periodic_chain_at_a_tiny_cost() -> None:
    report = leakage(PERIODIC, 1e-11, adversary="uninformed")
    assert report.best.theorem == "markov-recursion"
    assert 2e-11 < report.best.epsilon < 2e-10


@pytest.mark.parametrize("rate", [0.1, 0.9, 0.999])
def test_a_closed_matrix_is_not_raised_and_close_to_the_fixed_point(rate: float) -> None:
    """`ln F(C) = a + rate ln C`, whose fixed point is `a / (1 - rate)`."""
    rng = np.random.default_rng(4)
    pull = 0.1 * rng.uniform(0.1, 1.0, (3, 3)) * (1.0 - np.eye(3))

    def step(matrix: np.ndarray) -> np.ndarray:
        return np.exp(pull + rate * np.log(matrix)) * (1.0 + 1e-15 * (pull > 0.0))

    closed_level = closed(np.ones((3, 3)), step, 50_000)
    assert closed_level is not None
    assert (step(closed_level) <= closed_level).all()
    exact = pull / (1.0 - rate)
    assert (np.log(closed_level) >= exact * (1.0 - 1e-12)).all()
    assert np.log(closed_level) == pytest.approx(exact, rel=1e-5, abs=1e-12)
    assert closed(np.ones((3, 3)), lambda c: np.exp(pull) * c * 2.0, 50_000) is None


# -- levels grow with the cost -----------------------------------------------------------------

GRID = (1e-12, 1e-9, 1e-6, 1e-3, 0.03, 0.5, 3.0, 20.0, 50.0)
EXTREME = (1e-310, 1e-300, 0.0, 1e-100, 1e-20, 1e-6, 1.0 - 1e-9)


def random_chain(rng: np.random.Generator, states: int, lengths: tuple[int, ...]) -> MarkovChain:
    while True:
        rows = rng.dirichlet(np.ones(states), size=states)
        for _ in range(int(rng.integers(0, 3))):
            rows[rng.integers(states), rng.integers(states)] = rng.choice(EXTREME)
        if rng.random() < 0.2:
            rows = np.eye(states) + rng.choice([1e-300, 1e-12, 1e-5]) * rows
        start = "stationary" if rng.random() < 0.6 else rng.dirichlet(np.ones(states)).tolist()
        total = rows.sum(axis=1, keepdims=True)
        if (total <= 0.0).any():
            continue
        try:
            return MarkovChain(
                transition=rows / total, length=int(rng.choice(lengths)), initial=start
            )
        except InputError:
            continue


@pytest.mark.parametrize(
    ("states", "lengths", "effort"),
    [(2, (1, 2, 3, 10, 1000, 30_000, LONG), 40), (3, (1, 2, 3, 5, 30, LONG), 4)],
)
def test_levels_grow_with_the_cost(states: int, lengths: tuple[int, ...], effort: int) -> None:
    """A level at a larger cost holds at a smaller one. Warnings are errors here."""
    rng = np.random.default_rng(20 + states)
    for _ in range(runs(effort)):
        population = random_chain(rng, states, lengths)
        for adversary in ("any", "uninformed"):
            question = Question(population, adversary, seconds=3.0, stop_after=1e9)
            levels = [best_bound(question, Cost(any=cost)).epsilon for cost in GRID]
            grow = (low <= high * (1.0 + 1e-9) for low, high in pairwise(levels))
            assert all(grow), (population, adversary, levels)


@pytest.mark.parametrize("adversary", ["any", "uninformed"])
@pytest.mark.parametrize("entry", [1e-300, 1e-310])
def test_the_chain_that_was_not_monotone(adversary: Adversary, entry: float) -> None:
    chain = MarkovChain(transition=((1, entry), (entry, 1)), length=LONG)
    levels = [leakage(chain, cost, adversary=adversary).best.epsilon for cost in GRID]
    assert levels == sorted(levels)


@pytest.mark.parametrize("uninformed", [True, False])
def test_a_tail_that_is_closed_from_a_larger_cost(
    uninformed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where too few rounds are allowed from below. It is no lower than with all of them."""
    kernel = np.array([[0.9, 0.08, 0.02], [0.1, 0.85, 0.05], [0.05, 0.05, 0.9]])
    start = np.asarray(stationary_law(kernel))

    def level(dp_epsilon: float) -> StatesLevel:
        chain = StateChain(kernel, start, stationary=True, length=LONG, uninformed=uninformed)
        reached = chain.level(dp_epsilon, "program")
        assert reached is not None
        return reached

    calm = [level(cost) for cost in (0.01, 0.1, 1.0)]
    monkeypatch.setattr(StateChain, "_close", lambda *_: None)
    monkeypatch.setattr(states, "MAX_STEPS", 200)
    hurried = [level(cost) for cost in (0.01, 0.1, 1.0)]
    for item, other in zip(calm, hurried, strict=True):
        assert other.epsilon >= item.epsilon * (1.0 - 1e-12)
        assert other.epsilon == pytest.approx(item.epsilon, rel=1e-2)
        assert other.closed is not None
        assert np.asarray(other.closed).shape == (2, 3, 3)


def test_a_limited_program_leaves_no_limit_behind() -> None:
    """HiGHS is shared by all engines, and its clock never starts again."""
    chain = MarkovChain(transition=((0.9, 0.1), (0.1, 0.9)), length=6)
    assert report(Question(chain, "uninformed", seconds=50.0), Cost(any=0.3)).bounds
    for method in ("simplex", "ipm"):
        assert quiet_solver(method).getOptionValue("time_limit")[1] == math.inf


def test_a_guess_is_not_trusted() -> None:
    """The way up looks like one to 1, and goes on to 1.2 from where nobody has been yet."""
    off = 1.0 - np.eye(2)

    def step(matrix: np.ndarray) -> np.ndarray:
        logs = np.log(matrix)
        return np.exp((0.1 + 0.02 * (logs > 0.8)) * off + 0.9 * logs)

    closed_level = closed(np.ones((2, 2)), step, 5_000)
    assert closed_level is not None
    assert (step(closed_level) <= closed_level).all()
    assert np.log(closed_level) == pytest.approx(1.2 * off, rel=1e-5)


def test_a_finite_law_counts_the_work_of_its_proof_as_the_kernel_does() -> None:
    """Otherwise a level would be shown that no certificate can claim."""
    rng = np.random.default_rng(83)
    kinds = (honest.finite, honest.network, honest.any_chain, honest.tree, honest.graph)
    counted = 0
    for _ in range(max(200, runs(2000))):
        population = parse(kinds[int(rng.integers(len(kinds)))](rng))
        try:
            laws = [joint for _, joint in parts_of(population, 256)]
        except NoJointError:
            continue
        stated = read_population(law_of(population.spec()))
        by_kernel = sum(map(rule._work, parts(stated)))
        assert sum(map(finite_law.proof_work, laws)) == by_kernel, population.spec()
        counted += 1
    assert finite_law.MOST_WORK == rule.MOST_WORK
    assert counted > 100


def test_a_law_whose_proof_takes_too_long_is_shown_by_another_theorem() -> None:
    """Eight records of two values: their proof asks about 262,144 cells."""
    seven, eight = (
        MarkovChain(transition=((0.7, 0.3), (0.4, 0.6)), length=length) for length in (7, 8)
    )
    answer = leakage(eight, 0.3)
    (refused,) = (refusal for refusal in answer.refused if refusal.theorem == "finite-law")
    assert "longer than a verdict may" in refused.reason
    assert any(bound.theorem == "finite-law" for bound in leakage(seven, 0.3).bounds)
