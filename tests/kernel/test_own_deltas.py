"""Certificates of data sets whose mechanisms have deltas of their own: sums, levels, forgeries."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

from bayesdp.accounting import Spend
from bayesdp.kernel import check
from bayesdp.release import Study
from bayesdp.report.promise import PromiseStatus, of_document
from bayesdp.statements import StatementError
from tests.kernel.all_kinds import certificate
from tests.kernel.statements import read_spend
from tests.kernel.test_forgeries import renewed
from tests.kernel.test_keys import ASKED, COLUMNS, TABLE, plain

Document = dict[str, Any]
BUDGET: Document = {
    "notion": "dp",
    "epsilon": 4.0,
    "delta": 1e-6,
    "mechanism_delta": 4e-7,
    "spend": 1.0,
}
OWN = (1e-7, 2e-7)
NOISES = ("laplace", "gaussian")


@cache
def _released(noise: str) -> str:
    folder = Path(mkdtemp(prefix="bayesdp-own-"))
    study = Study(
        TABLE,
        dataset="people",
        n=4,
        columns=COLUMNS,
        budget=BUDGET | {"noise": noise},
        queries=ASKED,
        ledger=str(folder / "ledger.db"),
    )
    study.register()
    for delta in OWN:
        keys = Spend("people", "row", "shops", "any", 0.125, dp_delta=delta, reads=("shop",))
        study.ledger().debit("people", "row", [keys], study="another", request={})
    return json.dumps(plain(study.release().certificate))


def released(noise: str) -> Document:
    """A release after two whose mechanisms have deltas of their own; or a Bayesian one."""
    if noise == "bayesian":
        return certificate("laplace release")
    document: Document = json.loads(_released(noise))
    return document


def test_deltas_are_claimed_beside_the_level_that_they_belong_to() -> None:
    pure, gaussian = released("laplace"), released("gaussian")
    assert pure["claim"]["delta"] == 0.0  # this release has none of its own
    state = pure["data_set"]
    assert state["delta"] == state["dp_delta"]
    assert Fraction(state["dp_delta"]) >= sum(map(Fraction, OWN))
    assert state["dp_delta"] == pytest.approx(sum(OWN), rel=1e-12)
    assert state["level"] == pytest.approx(0.25 + pure["claim"]["dp_epsilon"], rel=1e-9)
    assert gaussian["data_set"]["delta"] == BUDGET["delta"]
    step = gaussian["derivation"]["premises"][-1]
    assert step["evidence"]["own_delta"] == state["dp_delta"]
    for document in map(released, NOISES):
        promise = of_document(document, PromiseStatus("VALID ASSUMING"))
        assert promise.level.delta == document["data_set"]["delta"]
        assert promise.cost.epsilon <= promise.level.epsilon * (1 + 1e-9)


def _state(**parts: Any) -> Callable[[Document], None]:
    return lambda document: document["data_set"].update(parts)


def _last(part: str, **parts: Any) -> Callable[[Document], None]:
    return lambda document: document["derivation"]["premises"][-1][part].update(parts)


def _together(document: Document, delta: float) -> None:
    document["data_set"] |= {"dp_delta": delta, "delta": delta}
    document["derivation"]["premises"][-1]["conclusion"]["delta"] = delta


def _less_noise_at_all_of_delta(document: Document) -> None:
    """The level that Gaussian noise has where nobody else has a part of the delta."""
    step = document["derivation"]["premises"][-1]
    step["evidence"]["own_delta"] = 0.0


def _own_part(document: Document, part: float) -> None:
    document["data_set"]["dp_delta"] = part
    document["derivation"]["premises"][-1]["evidence"]["own_delta"] = part


def _counted_as_zcdp(document: Document) -> None:
    """`eps^2 / 2` of mechanisms that are (eps, delta)-DP, which have no zCDP cost."""
    evidence = document["derivation"]["premises"][-1]["evidence"]
    evidence["delta"]["counted"] = "zcdp"
    evidence["cost"]["any"] = 0.0
    evidence["cost"]["rho_any"] += 2 * 0.125**2 / 2


def _of_gaussian_noise(document: Document) -> None:
    document["data_set"]["earlier_spends"][0] |= {
        "dp_epsilon": 0.0,
        "rho": 0.125,
        "mechanism": "keys",
    }


def _of_a_population(document: Document) -> None:
    """A Bayesian level over spends of which one has a delta: no theorem is about that."""
    document["data_set"]["earlier_spends"][0]["dp_delta"] = 1e-7
    document["data_set"]["dp_delta"] = 1e-7


FORGED: dict[str, tuple[str, Callable[[Document], Any], str]] = {
    "no sum": ("laplace", lambda d: d["data_set"].pop("dp_delta"), "own deltas"),
    "less": ("laplace", lambda d: _together(d, 2e-7), "own deltas"),
    "more": ("laplace", lambda d: _together(d, 3.1e-7), "own deltas"),
    "a hair less": ("laplace", lambda d: _together(d, 3e-7 - 1e-21), "own deltas"),
    "no delta of the data set": ("laplace", _state(delta=0.0), "delta"),
    "less delta of the data set": ("laplace", _state(delta=2e-7), "delta"),
    "no delta concluded": (
        "laplace",
        lambda d: [_state(delta=0.0)(d), _last("conclusion", delta=0.0)(d)],
        "own deltas",
    ),
    "a release's own": ("laplace", lambda d: d["claim"].update(dp_delta=1e-7), "own deltas"),
    "all of it to an order": ("gaussian", _less_noise_at_all_of_delta, "own deltas"),
    "most of it to an order": ("gaussian", lambda d: _own_part(d, 1e-8), "own deltas"),
    "more than there is": ("gaussian", lambda d: _own_part(d, 1e-5), "own deltas"),
    "less delta than mechanisms have": (
        "gaussian",
        lambda d: [_state(delta=2e-7)(d), _last("conclusion", delta=2e-7)(d)],
        "probability",
    ),
    "less delta for the order": (
        "gaussian",
        lambda d: [_state(delta=3.001e-7)(d), _last("conclusion", delta=3.001e-7)(d)],
        "claimed",
    ),
    "counted as zCDP": (
        "gaussian",
        _counted_as_zcdp,
        "cost",
    ),
    "under a population": ("bayesian", _of_a_population, "mechanisms have deltas"),
    "of a release's costs": (
        "gaussian",
        lambda d: d["derivation"]["premises"][0]["premises"][0]["conclusion"].update(delta=1e-7),
        "own deltas",
    ),
    "of Gaussian noise": ("laplace", _of_gaussian_noise, "a delta beside other costs"),
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_deltas_are_refused(name: str) -> None:
    noise, change, reason = FORGED[name]
    document = released(noise)
    change(document)
    verdict = check(renewed(document))
    assert verdict.verdict == "INVALID", name
    assert reason in verdict.reason, verdict


def test_queries_with_noise_alone_have_none() -> None:
    for kind, position in (("dp release", 0), ("answered release", -1), ("program release", 0)):
        document = copy.deepcopy(certificate(kind))
        step = document["derivation"]["premises"][0]
        while step["rule"] != "sequential-composition":
            step = step["premises"][0]
        evidence = step["premises"][position]["evidence"]
        (evidence["spend"] if "spend" in evidence else evidence["spends"][0])["dp_delta"] = 1e-9
        verdict = check(renewed(document))
        assert (verdict.verdict, verdict.reason.startswith("a delta")) == ("INVALID", True), kind


def test_only_pure_costs_of_any_mechanism_have_one() -> None:
    spend = Spend("d", "row", "keys", "any", 0.5, dp_delta=1e-6).to_dict()
    assert read_spend(spend).dp_delta == 1e-6
    lipschitz = {"kind": "lipschitz", "column": "x", "interval": [0.0, 1.0], "reads": ["x"]}
    for change in (
        {"dp_delta": 1.0},
        {"dp_delta": -1e-9},
        {"dp_epsilon": 0.0, "rho": 0.5},
        lipschitz | {"slack": 1e-9},
        {"mechanism": "randomized response at collection", "column": "x", "reads": ["x"]},
    ):
        with pytest.raises(StatementError):
            read_spend(spend | change)
