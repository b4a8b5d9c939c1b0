"""What is shown is what is certified: check, leakage, calibrate, certificate and verify agree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayesdp.calibration import calibrate
from bayesdp.certificate import Certificate, Step
from bayesdp.errors import BudgetExceededError, TableMismatchError
from bayesdp.populations import Population, parse
from bayesdp.release.certificates import derivation
from bayesdp.release.certificates.certify import conversion_certificate
from bayesdp.report.numbers import level_words
from bayesdp.verification import verify
from tests.effort import runs
from tests.kernel.honest import ABOUT
from tests.release.studies import random_study

pytestmark = pytest.mark.prove
KINDS = sorted({kind for kinds in ABOUT.values() for kind in kinds}, key=lambda kind: kind.__name__)


def verified(certificate: Certificate) -> Certificate:
    read = Certificate.from_dict(json.loads(certificate.to_json()))
    verdict = verify(read)
    assert verdict.verdict == "VALID ASSUMING", verdict
    return read


@pytest.mark.usefixtures("few_contexts")
def test_leakage_and_calibrate_show_what_a_certificate_claims() -> None:
    """Interval chains of higher order with structured zeros are tested beside their engine."""
    rng = np.random.default_rng(907)
    for _ in range(runs(1500)):
        population: Population = parse(KINDS[int(rng.integers(len(KINDS)))](rng))
        options: dict[str, Any] = {
            "adversary": str(rng.choice(["any", "uninformed", "informed"])),
            "kind": str(rng.choice(["any", "lipschitz"])),
            "secrets": str(rng.choice(["bounded", "unbounded"])),
            "seconds": 2.0,
        }
        cost = float(10 ** rng.uniform(-3, 0.7))
        case = (population.spec(), options, cost)
        if rng.random() < 0.3:
            calibration = calibrate(population, cost, **options)
            report = population.leakage(calibration.dp_epsilon, **options)
            assert level_words(report.best.epsilon) == level_words(calibration.certified_epsilon), (
                case
            )
        else:
            report = population.leakage(cost, **options)
        read = verified(conversion_certificate(population, report))
        claimed = read.body["claim"]["epsilon"]
        assert level_words(claimed) == level_words(report.best.epsilon), (case, claimed, report)


def test_a_study_shows_what_its_certificate_claims(tmp_path: Path) -> None:
    rng = np.random.default_rng(908)
    done = 0
    for number in range(runs(500)):
        delta = {"delta": 1e-6} if rng.random() < 0.3 else {}
        study = random_study(rng, tmp_path / f"{number}.db", **delta)
        case = (study.spec.queries, study.spec.budget, study.spec.population)
        try:
            shown = study.check()
            release = study.release()
        except (BudgetExceededError, TableMismatchError):
            continue  # wanted errors cost too much, or a mean of no rows
        done += 1
        read = verified(release.certificate)
        claimed = read.body["claim"]
        assert level_words(claimed["epsilon"]) == level_words(shown.plan.level), case
        assert claimed["delta"] == shown.plan.delta, case
        reading = study.ledger().show()[0]["readings"][0]
        its_level = read.body["data_set"]["level"]
        if claimed["delta"]:
            # A ledger reads at the order fixed for its whole total, which later releases need too;
            # a certificate of the first release at the one that is best for what it spends.
            assert its_level * (1 - 1e-9) <= reading["level"] <= reading["total"], case
        else:
            assert level_words(reading["level"]) == level_words(its_level), case
    assert done > runs(500) / 3


def test_a_level_that_only_the_kernel_puts_higher_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its rule may be simpler than the fast route: the study spends less, and says so."""
    study = random_study(np.random.default_rng(1), tmp_path / "one.db")
    certified = derivation.certified

    def simpler_rule(step: Step, *known: Any) -> derivation.Certified:
        level = certified(step, *known).level
        return derivation.Certified(None if level is None else 1.3 * level)

    monkeypatch.setattr(derivation, "certified", simpler_rule)
    plan = derivation.provable_plan(study.spec)
    assert plan.level == derivation.derive(plan).conclusion["epsilon"]
    assert study.spec.budget.epsilon > plan.level > 0.0
