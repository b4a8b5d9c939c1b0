"""Over random studies: priced within the budget, certified by OpenDP, verified from outside."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from bayesdp.accounting.costs.composition import level
from bayesdp.certificate import Certificate
from bayesdp.errors import BudgetExceededError, TableMismatchError
from bayesdp.mechanisms.laplace import DiscreteLaplace
from bayesdp.release.price.plan import make_plan
from bayesdp.verification import verify
from tests.effort import runs
from tests.release.studies import random_study

pytestmark = pytest.mark.prove
NEED_ROWS = ("mean", "variance", "covariance", "regression", "proportion", "quantile")


def test_a_plan_keeps_to_its_budget(tmp_path: Path) -> None:
    """The level is at most the target and close to it; each cost is OpenDP's; errors are kept."""
    rng = np.random.default_rng(11)
    for _ in range(runs(1500)):
        study = random_study(rng, tmp_path / "ledger.db")
        try:
            plan = make_plan(study.spec, 20)
        except BudgetExceededError:
            continue  # the wanted errors cost too much
        case = (study.spec.queries, study.spec.budget, study.spec.population)
        assert plan.level <= plan.target, case
        weighted = [q for q in plan.queries if q.asked.spec.error is None]
        for query in plan.queries:
            assert query.dp_epsilon == query.noise.cost(query.sensitivity)
            assert query.spend.dp_epsilon == query.dp_epsilon
            wanted = query.asked.spec.error
            if wanted is not None:
                reached = query.error(query.asked.spec.confidence, 20)
                assert reached is not None
                assert reached <= wanted, case
                # A third more noise than that would not keep it: the cost is no larger than due.
                loud = DiscreteLaplace(query.noise.scale * 4 / 3)
                assert loud.quantile(query.asked.spec.confidence) * query.step > wanted, case
        if weighted:
            assert plan.level >= plan.target * (1 - 1e-6), case
            shares = [q.dp_epsilon / (q.asked.spec.weight or 1.0) for q in weighted]
            assert max(shares) <= min(shares) * (1 + 1e-6), case


def test_a_release_verifies(tmp_path: Path) -> None:
    """The same study twice on one ledger: both certificates hold, together within the total."""
    rng = np.random.default_rng(18)
    models = set()
    for number in range(runs(240, least=16)):
        ledger = tmp_path / f"{number}.db"
        study = random_study(rng, ledger)
        case = (study.spec.queries, study.spec.budget, study.spec.population)
        for earlier in range(2):
            try:
                planned = study.check().plan
                release = study.release(again=earlier > 0)
            except BudgetExceededError:
                # Wanted errors cost too much. Nothing else is refused: two times 0.4 fit for the
                # conversions here, which are convex at worst up to the total.
                assert any(q.error for q in study.spec.queries) or earlier == 1, case
                break
            except TableMismatchError:
                # An average over a public group or condition that the made-up table leaves empty.
                assert any(q.kind in NEED_ROWS for q in study.spec.queries), case
                break
            models.add(study.spec.population.model)
            # Where only the data tell n, grids may be finer, and the costs of regressions, whose
            # sensitivities are not powers of 2, are then rounded at another place.
            assert math.isclose(planned.level, release.level, rel_tol=1e-12), case
            assert planned.report is None or planned.report.best.epsilon == planned.level, case
            text = release.certificate.to_json()
            verdict = verify(Certificate.from_dict(json.loads(text)))
            assert verdict.verdict == "VALID ASSUMING", (verdict, case)
            state = release.certificate.body["data_set"]
            assert state["level"] <= study.spec.budget.epsilon
            assert len(state["earlier_spends"]) == earlier * len(study.spec.queries)
            (shown,) = study.ledger().show()
            assert shown["spent"] == state["dp_epsilon"]
            assert shown["readings"][0]["level"] == state["level"]
        if ledger.exists() and study.ledger().spends("made-up"):
            spends = study.ledger().spends("made-up")
            (kept,) = study.ledger().show()[0]["readings"]
            assert kept["level"] <= study.spec.budget.epsilon
            plan = make_plan(study.spec, 20)
            assert level(plan.reading, spends) == kept["level"]
    assert len(models) == 6
