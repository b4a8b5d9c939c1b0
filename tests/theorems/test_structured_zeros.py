"""No level below the truth where something can't happen: every theorem, and the kernel's levels."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bayesdp import kernel
from bayesdp.errors import Refusal
from bayesdp.kernel.rules.markov_contraction import largest_ratio as kernel_ratio
from bayesdp.notions import ADVERSARIES, ApproxDP
from bayesdp.populations import MarkovChain
from bayesdp.release import Study
from bayesdp.release.certificates.certify import conversion_certificate
from bayesdp.statements import read_population
from bayesdp.theorems import Question, approximate
from bayesdp.theorems.markov_contraction import largest_ratio
from tests.effort import runs
from tests.oracles import chains, finite
from tests.theorems.zeros import random_model, truth

BELOW = 1e-9
SHARE_OF_KERNEL = 0.1
BLOCKS = 8


@pytest.mark.prove
@pytest.mark.parametrize("block", range(BLOCKS))
def test_no_theorem_is_below_the_truth_and_the_kernel_agrees(block: int) -> None:
    rng = np.random.default_rng([81, block])
    for _ in range(runs(20_000 // BLOCKS)):
        model = random_model(rng)
        adversary = str(rng.choice(ADVERSARIES, p=[0.5, 0.4, 0.1]))
        eps = float(10 ** rng.uniform(-2.0, 0.7))
        leaks = truth(rng, model, eps, adversary)
        report = model.population.leakage(eps, adversary=adversary)
        case = (model.population.spec(), eps, adversary, leaks)
        assert report.bounds, case
        for bound in report.bounds:
            assert bound.epsilon >= leaks - BELOW, (bound, case)
        if rng.random() < SHARE_OF_KERNEL:
            for bound in report.bounds:
                alone = replace(report, bounds=(bound,))
                level = conversion_certificate(model.population, alone).body["claim"]["epsilon"]
                assert level >= leaks - BELOW, (bound, level, case)
                assert level == pytest.approx(bound.epsilon, rel=1e-8), (bound, case)


# -- interval chains of order 2: never the value of two records before --------------------------


def never_as_before() -> MarkovChain:
    """Three states, order 2: `x_(t+2)` differs from `x_t`, and nothing else is known."""
    upper = [[[float(a != c) for c in range(3)] for _ in range(3)] for a in range(3)]
    lower = [[[0.0] * 3 for _ in range(3)] for _ in range(3)]
    return MarkovChain(transition_lower=lower, transition_upper=upper, order=2, length=5)


LEAKS = 2.9848113555539935
"""What a member leaks at eps 1: `P(a + 1) = .99`, `P(a + 2) = .01`, modulo three."""


def test_a_member_leaks_what_it_does() -> None:
    table = np.zeros((3, 3, 3))
    for a in range(3):
        table[a, :, (a + 1) % 3], table[a, :, (a + 2) % 3] = 0.99, 0.01
    law = chains.joint(table, "stationary", 5).sum(axis=(1, 3))  # only x_1, x_3, x_5 depend
    assert finite.worst_case(law, 1.0).level == pytest.approx(LEAKS, abs=1e-9)


def test_what_one_row_excludes_and_another_may_have_is_an_infinite_ratio() -> None:
    population = never_as_before()
    assert largest_ratio(population) == math.inf
    report = population.leakage(1.0)
    assert (report.best.theorem, report.best.epsilon) == ("cluster-size", 5.0)
    reasons = {refusal.theorem: refusal.reason for refusal in report.refused}
    assert "R is infinite" in reasons["markov-contraction"]
    assert population.calibrate(1.0).dp_epsilon <= 0.2
    at_delta = approximate(Question(population), ApproxDP(1.0, 1e-9))
    assert [bound.theorem for bound in at_delta.bounds] == ["cluster-size"]
    certificate = conversion_certificate(population, report)
    assert certificate.body["claim"]["epsilon"] == 5.0
    assert kernel.check(certificate.to_dict()).verdict == "VALID ASSUMING"


def test_zeros_that_every_row_has_do_no_harm_between_bounds() -> None:
    """The third value never comes: the first two are within their bounds, whatever was before."""
    lower = [[[0.4, 0.4, 0.0]] * 3] * 3
    upper = [[[0.6, 0.6, 0.0]] * 3] * 3
    first = [[0.25, 0.25, 0.0], [0.25, 0.25, 0.0], [0.0, 0.0, 0.0]]
    population = MarkovChain(
        transition_lower=lower, transition_upper=upper, order=2, initial=first, length=5
    )
    assert largest_ratio(population) == pytest.approx(1.5**4, rel=1e-9)


def test_bounds_that_sum_to_one_nearly_stay_as_declared() -> None:
    """Equal bounds whose sums are off by a rounding, in the kernel as in the package."""
    rows = [
        [0.6642880085487335, 0.0, 0.33571199145126646],
        [0.9991656515470202, 0.0, 0.0008343484529797528],
        [0.5402859549986959, 0.0, 0.4597140450013042],
    ]
    population = MarkovChain(
        transition_lower=rows, transition_upper=rows, initial=[0.5, 0.0, 0.5], length=100
    )
    ratio = (rows[1][0] / rows[1][2]) * (rows[2][2] / rows[2][0])
    assert ratio <= largest_ratio(population) <= ratio * (1 + 1e-9)
    report = population.leakage(0.05)
    assert report.best.theorem == "markov-contraction"
    claimed = conversion_certificate(population, report).body["claim"]["epsilon"]
    assert claimed == pytest.approx(report.best.epsilon, rel=1e-9)


def test_bounds_short_of_one_are_not_crossed() -> None:
    """Narrowed, an upper bound would come to lie below the lower one, and R below the truth."""
    rows = [[0.001, 0.9989999995], [0.5, 0.4999999995]]
    population = MarkovChain(transition_lower=rows, transition_upper=rows, length=3)
    ratio = (rows[1][0] / rows[1][1]) * (rows[0][1] / rows[0][0])
    assert ratio <= largest_ratio(population) <= ratio * (1 + 1e-9)
    fraction, _ = kernel_ratio(read_population(population.spec()))
    assert ratio * (1 - 1e-12) <= float(fraction) <= ratio * (1 + 1e-9)


# -- one number: what is checked, released and certified ---------------------------------------


def study_of(population: dict[str, object], ledger: Path) -> Study:
    return Study(
        None,
        dataset="series",
        n=5,
        columns={
            "who": {"role": "series"},
            "t": {"role": "order", "step": 1},
            "x": {"states": [0, 1, 2]},
        },
        population=population | {"covers": ["x"]},
        budget={"epsilon": 1.0},
        queries=[{"name": "ones", "kind": "count", "where": "x == 1"}],
        ledger=str(ledger),
    )


def test_check_shows_what_the_certificate_claims(tmp_path: Path) -> None:
    plan = study_of(never_as_before().spec(), tmp_path / "ledger.db").check().plan
    assert plan.report is not None
    assert plan.report.best.theorem == "cluster-size"
    assert plan.dp_epsilon == pytest.approx(0.2, rel=1e-6)
    assert plan.level == plan.report.best.epsilon == pytest.approx(1.0, rel=1e-6)


def test_a_level_that_the_kernel_does_not_prove_is_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it was: the fast engine took the ratio of the chain above for 1, and the kernel didn't."""
    from bayesdp.release.certificates.derivation import UNPROVED, derive
    from bayesdp.theorems import markov_contraction

    monkeypatch.setattr(markov_contraction, "largest_ratio", lambda _: 1.0)
    plan = study_of(never_as_before().spec(), tmp_path / "ledger.db").check().plan
    assert plan.report is not None
    assert plan.level == plan.report.best.epsilon == derive(plan).conclusion["epsilon"]
    assert plan.report.best.theorem == "cluster-size"
    assert {refusal.theorem: refusal.reason for refusal in plan.report.refused}[
        "markov-contraction"
    ] == UNPROVED


def test_influences_on_a_short_line_are_proved_as_they_are_shown() -> None:
    """They die out on a line of two records, and would not on a longer one."""
    table = [
        [[0.21456903734078406, 0.785430962659216], [0.0029916458852942652, 0.9970083541147058]],
        [[0.02018840429748725, 0.9798115957025129], [0.8403949027130089, 0.15960509728699113]],
    ]
    population = MarkovChain(transition=table, order=2, length=2)
    report = population.leakage(0.1, adversary="uninformed")
    bound = next(bound for bound in report.bounds if bound.theorem == "markov-influence")
    certificate = conversion_certificate(population, replace(report, bounds=(bound,)))
    assert certificate.body["claim"]["epsilon"] == pytest.approx(bound.epsilon, rel=1e-9)
    assert kernel.check(certificate.to_dict()).verdict == "VALID ASSUMING"
    longer = MarkovChain(transition=table, order=2, length=12)
    refused = longer.leakage(0.1, adversary="uninformed")
    assert "markov-influence" not in {bound.theorem for bound in refused.bounds}
    with pytest.raises(Refusal):
        conversion_certificate(longer, replace(refused, bounds=(bound,)))


def test_a_conversion_that_nothing_proves_has_no_certificate() -> None:
    population = never_as_before()
    report = population.leakage(1.0)
    wrong = replace(report.bounds[0], theorem="markov-contraction", epsilon=2.0)
    with pytest.raises(Refusal):
        conversion_certificate(population, replace(report, bounds=(wrong,)))
