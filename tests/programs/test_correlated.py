"""What a program's cost means under a population: the same as its numbers, and no less."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

import bayesdp as bdp
from bayesdp.errors import InputError, Refusal
from bayesdp.notions import ApproxDP, Cost
from bayesdp.programs import ProgramSource
from bayesdp.programs.check.checker import check
from bayesdp.programs.run.machine.spends import spends_of
from bayesdp.theorems import ApproximateReport, LeakageReport, Question, approximate
from tests.programs.run.helpers import IMPORTS

TEXT = """
@program
def total(db: Database[Real[0, 10]], *, level: Public[Real[0.1, 2]] = 0.3) -> Private[Real]:
    return laplace(sum(db), epsilon=level)

@program(adjacency="add-remove")
def entering(db: Database[Real[0, 10]]) -> Private[Real]:
    return laplace(sum(db), epsilon=0.3)

@program
def squares(db: Database[Real[0, 10]]) -> Private[Real]:
    return gaussian(sum(x * x for x in db), epsilon=0.5, delta=1e-6)

@program
def never(db: Database[Real[0, 10]]) -> Private[Real]:
    return sum(db)
"""
CHAIN = bdp.MarkovChain(transition=[[0.9, 0.1], [0.2, 0.8]], length=50)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "programs.py"
    path.write_text(IMPORTS + TEXT)
    return path


def test_levels_are_those_of_the_cost(source: Path) -> None:
    report = ProgramSource(source, "total").leakage(CHAIN)
    assert isinstance(report, LeakageReport)
    # 3/10 is above the double 0.3.
    assert Fraction(report.cost.dp_epsilon) >= Fraction(3, 10)
    assert report.best.epsilon == pytest.approx(CHAIN.leakage(0.3).best.epsilon, rel=1e-12)
    more = ProgramSource(source, "total").leakage(CHAIN, level=0.75, adversary="uninformed")
    assert isinstance(more, LeakageReport)
    assert (more.cost.dp_epsilon, more.adversary) == (0.75, "uninformed")


def test_a_record_that_leaves_and_one_that_enters(source: Path) -> None:
    report = ProgramSource(source, "entering").leakage(bdp.Clusters(size=3))
    assert report.best.epsilon == pytest.approx(1.8)


def test_a_lipschitz_program_under_gaussian_records(source: Path) -> None:
    pair = bdp.Gaussian(size=2, max_correlation=0.3)
    any_kind = ProgramSource(source, "total").leakage(pair)
    sum_of_one = ProgramSource(source, "total").leakage(pair, kind="lipschitz")
    assert sum_of_one.best.epsilon < any_kind.best.epsilon
    # What the ledger keeps of a run: the other record may move by two steps of the grid more.
    core = ProgramSource(source, "total").core()
    (spend,) = spends_of(check(core), core, dataset="d")
    assert spend.slack > 0
    assert sum_of_one.cost == Cost(lipschitz=spend.dp_epsilon, slack=spend.slack)
    exact = Fraction(pair.max_correlation + 1) * Fraction(3, 10)
    assert Fraction(sum_of_one.best.epsilon) >= exact + Fraction(spend.slack)
    with pytest.raises(InputError, match="kind"):
        ProgramSource(source, "squares").leakage(pair, kind="lipschitz")


def test_with_a_delta_levels_are_pairs(source: Path) -> None:
    pair = bdp.Clusters(size=2)
    report = ProgramSource(source, "squares").leakage(pair)
    assert isinstance(report, ApproximateReport)
    item, other = (
        report.best,
        approximate(Question(pair, "any", "bounded", 1.0), ApproxDP(0.5, 1e-6)).best,
    )
    assert (item.epsilon, item.delta) == pytest.approx((other.epsilon, other.delta))


def test_what_is_not_accepted_has_no_level(source: Path) -> None:
    with pytest.raises(Refusal, match="REJECTED"):
        ProgramSource(source, "never").leakage(CHAIN)
    source.write_text(
        source.read_text().replace(
            "epsilon=0.3)", "epsilon=0.3) + gaussian(sum(db), epsilon=1, delta=1e-6)"
        )
    )
    with pytest.raises(Refusal, match="replace-one"):
        ProgramSource(source, "entering").leakage(CHAIN)
