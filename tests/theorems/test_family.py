"""Families: the largest level over the members, whatever theorem each member's is from."""

from __future__ import annotations

import pytest

from bayesdp.notions import ApproxDP
from bayesdp.populations import Clusters, Family, Independent, MarkovChain
from bayesdp.theorems import Question, approximate
from tests.oracles import chains, finite

STICKY = MarkovChain(transition=[[0.9, 0.1], [0.2, 0.8]], length=4)
LOOSE = MarkovChain(transition=[[0.6, 0.4], [0.3, 0.7]], length=4)
ORDERS = ((STICKY, LOOSE), (LOOSE, STICKY))


@pytest.mark.parametrize("members", ORDERS)
@pytest.mark.parametrize("adversary", ["any", "uninformed", "informed"])
def test_the_level_is_the_largest_of_the_members(members, adversary) -> None:
    family = Family(members=members)
    for eps in (0.0, 0.01, 0.5, 3.0):
        report = family.leakage(eps, adversary=adversary)
        each = [member.leakage(eps, adversary=adversary).best for member in members]
        actual = next(bound for bound in report.bounds if bound.theorem == "family")
        assert report.best.epsilon == actual.epsilon == max(bound.epsilon for bound in each)
        assert actual.tight == "exact"
        listed = actual.evidence["members"]
        assert [item["epsilon"] for item in listed] == [bound.epsilon for bound in each]


def test_it_covers_every_member_by_brute_force() -> None:
    family = Family(members=(STICKY, LOOSE))
    for eps in (0.1, 1.0):
        truths = []
        for member in (STICKY, LOOSE):
            joint = chains.joint(member.transition, "stationary", 4)
            truths.append(finite.worst_case(joint, eps, "any").level)
        assert family.leakage(eps).best.epsilon == pytest.approx(max(truths), abs=1e-6)
        assert family.leakage(eps).best.epsilon >= max(truths) - 1e-9


def test_members_of_different_models_and_exactness() -> None:
    """The family's is exact where that of the worst member is: the others are below it."""
    weak = MarkovChain(
        transition_lower=[[0.5, 0.3], [0.4, 0.4]],
        transition_upper=[[0.7, 0.5], [0.6, 0.6]],
        length=10,
    )
    family = Family(members=(STICKY, weak))
    best = family.leakage(0.5).best
    assert best.tight == "exact"
    assert Family(members=(weak,)).leakage(0.5).best.tight == "upper"
    assert best.epsilon == STICKY.leakage(0.5).best.epsilon
    assert Family(members=(Independent(), Clusters(size=3))).leakage(0.2).best.epsilon == (
        pytest.approx(0.6)
    )


def test_the_question_reaches_the_members() -> None:
    """Adversary, kind and secrets are the members' too."""
    from bayesdp.populations import Gaussian

    pair = Gaussian(covariance=[[1, 0.5], [0.5, 1]])
    family = Family(members=(pair, Independent()))
    assert family.leakage(1.0, kind="lipschitz").best.epsilon == pytest.approx(1.5)
    assert family.leakage(1.0).best.epsilon == pytest.approx(2.0)
    unbounded = family.leakage(1.0, kind="lipschitz", secrets="unbounded")
    assert unbounded.best.epsilon == pytest.approx(2.0)


def test_calibration_meets_the_target_for_each_member() -> None:
    answer = Family(members=(STICKY, LOOSE)).calibrate(1.0)
    assert answer.certified_epsilon <= 1.0
    assert answer.dp_epsilon == pytest.approx(STICKY.calibrate(1.0).dp_epsilon, rel=1e-9)


def test_with_delta_both_numbers_are_the_largest() -> None:
    members = (Clusters(size=2), Clusters(size=3))
    best_bound = approximate(Question(Family(members=members)), ApproxDP(0.3, 1e-4)).best
    due = approximate(Question(members[1]), ApproxDP(0.3, 1e-4)).best
    assert (best_bound.epsilon, best_bound.delta) == (due.epsilon, due.delta)
    huge = Family(members=(Clusters(size=2), Clusters(size=10**6)))
    report = approximate(Question(huge), ApproxDP(1.0, 1e-4))
    assert report.bounds == ()
    assert "delta" in report.refused[0].reason
