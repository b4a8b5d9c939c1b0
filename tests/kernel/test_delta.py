"""Levels with a delta: the kernel agrees with the package, and accepts nothing more."""

from __future__ import annotations

import copy
import json
import math
from dataclasses import asdict, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from bayesdp.kernel.arithmetic import InvalidError
from bayesdp.kernel.conversions.conversion import certified_level, conversion_level, read_conversion
from bayesdp.kernel.costs.composition import as_zcdp, compose, declared_cost, spent
from bayesdp.kernel.reading import stated_step
from bayesdp.notions import ApproxDP, Cost
from bayesdp.populations import Population, parse
from bayesdp.release.certificates.certify import conversion_certificate
from bayesdp.statements import StatementError, read_population
from bayesdp.theorems import Bound, LeakageReport, Question
from bayesdp.theorems.finite_law import dual_certificates
from bayesdp.theorems.with_delta import dp_bounds, report_with_delta, stated_report
from bayesdp.verification import check, read
from tests.effort import runs
from tests.kernel.honest import ABOUT, ADVERSARIES, OF_A_RELEASE, PRESENT, random_cost
from tests.kernel.mutations import sealed
from tests.kernel.statements import read_spend
from tests.kernel.steps import bare, read_of

Rng = np.random.Generator
CHAIN = {"model": "markov", "transition": [[0.7, 0.3], [0.3, 0.7]], "length": 40}
PAIR = {"model": "gaussian", "covariance": [[1.0, 0.4], [0.4, 1.0]]}
GRID = {"model": "graph", "grid": [3, 4], "states": 2, "table": [[1.3, 1.0], [1.0, 1.3]]}
WITH_DELTA = set(PRESENT) - {OF_A_RELEASE}
"""Every theorem about all mechanisms says something of Gaussian noise."""


def plain_cost(cost: Cost) -> dict[str, Any]:
    return {k: v for k, v in asdict(cost).items() if k not in ("by_column", "dp_delta")} | {
        "by_column": [asdict(column) for column in cost.by_column]
    }


def step_of(population: Population, bound: Bound, report: LeakageReport) -> dict[str, Any]:
    """The step as a release's certificate has it."""
    zcdp = bound.proof.get("counted") == "zcdp"
    cost = report.zcdp_cost if zcdp else report.cost
    assert cost is not None
    proof = dict(bound.proof)
    if "alpha" in proof:
        proof["alpha"] = list(float(proof["alpha"]).as_integer_ratio())
    premises = []
    if bound.theorem == "family":
        for member in population.members:  # type: ignore[attr-defined]
            question = Question(member, report.adversary, report.secrets)
            of_member = report_with_delta(
                question, report.cost, report.delta, zcdp_cost=report.zcdp_cost
            )
            premises.append(step_of(member, of_member.best, of_member))
    details = read_of(bound)
    if bound.theorem == "finite-law" and report.adversary != "informed":
        pure_cost = bound.proof.get("dp_epsilon", report.cost.dp_epsilon)
        details["proofs"] = dual_certificates(population, pure_cost, report.adversary)
    evidence: dict[str, Any] = {
        "population": bare(population),
        "secrets": report.secrets,
        "cost": plain_cost(cost),
        "covers": [],
        "independent": [],
        "details": details,
    }
    delta = {"delta": bound.delta} if bound.delta else {}
    return {
        "rule": bound.theorem,
        "conclusion": {"notion": "bdp", "epsilon": bound.epsilon, "adversary": report.adversary}
        | delta,
        "evidence": evidence | ({"delta": proof} if proof else {}),
        "premises": premises,
    }


def some_cost(rng: Rng, population: Population) -> Cost:
    """A pure part, mostly, and a zCDP part."""

    def rho() -> float:
        return float(10 ** rng.uniform(-4, -1))

    base = random_cost(rng, population) if rng.random() < 0.7 else Cost()
    columns = tuple(replace(c, rho=rho(), rho_slack=1e-12) for c in base.by_column)
    cost = replace(base, rho_any=rho() if rng.random() < 0.7 else 0.0, by_column=columns)
    if base.lipschitz > 0:
        cost = replace(cost, rho_lipschitz=rho(), rho_slack=1e-13)
    return cost if cost.rho > 0 else replace(cost, rho_any=rho())


def counted_as_zcdp(cost: Cost) -> Cost:
    """Of a cost that is one mechanism of each kind."""
    columns = [
        replace(
            c,
            dp_epsilon=0.0,
            slack=0.0,
            rho=c.rho + c.dp_epsilon**2 / 2,
            rho_slack=c.rho_slack + c.slack**2 / 2,
        )
        for c in cost.by_column
    ]
    return Cost(
        by_column=tuple(columns),
        rho_any=cost.rho_any + cost.any**2 / 2,
        rho_lipschitz=cost.rho_lipschitz + cost.lipschitz**2 / 2,
        rho_slack=cost.rho_slack + cost.slack**2 / 2,
    )


def some_report(rng: Rng, spec: dict[str, Any]) -> tuple[Population, LeakageReport]:
    population = parse(spec)
    cost = some_cost(rng, population)
    adversary: Any = ADVERSARIES[int(rng.choice(3, p=(0.5, 0.4, 0.1)))]
    total = None if rng.random() < 0.5 else float(10 ** rng.uniform(-1, 1))
    delta = float(10 ** rng.uniform(-9, -1.5))
    question = Question(population, adversary, "bounded", 2.0)
    zcdp = counted_as_zcdp(cost)
    return population, report_with_delta(question, cost, delta, zcdp_cost=zcdp, total=total)


def declared_level(step: dict[str, Any]) -> None:
    """The kernel's word on a claim: `InvalidError`, or nothing."""
    stated = stated_step(step)
    cost = declared_cost(stated.evidence.cost)
    conversion_level(stated, read_conversion(stated, cost, zcdp=cost))


@pytest.mark.usefixtures("few_contexts")
def test_kernel_and_package_agree() -> None:
    rng, seen = np.random.default_rng(1), set()
    for number in range(runs(600, least=60)):
        rule = sorted(WITH_DELTA)[number % len(WITH_DELTA)]
        kinds = ABOUT[rule]
        population, report = some_report(rng, kinds[int(rng.integers(len(kinds)))](rng))
        for bound in report.bounds:
            # Members' steps here are for costs that are fixed.
            if not np.isfinite(bound.epsilon) or (bound.theorem == "family" and number % 2):
                continue
            step = step_of(population, bound, report)
            level = certified_level(step)
            most = bound.epsilon * (1 + 1e-9)
            least = bound.epsilon * (1 - 1e-7) if bound.theorem != "family" else 0.0
            assert least <= level <= most, (step, level)
            seen.add(bound.theorem)
            if bound.theorem == "family":
                continue
            step["conclusion"]["epsilon"] = level
            declared_level(step)
            step["conclusion"]["epsilon"] = level * (1 - 1e-9)
            if level > report.cost.dp_epsilon:
                with pytest.raises(InvalidError):
                    declared_level(step)
    assert seen == WITH_DELTA


def a_step(spec: dict[str, Any], cost: Cost | None = None, delta: float = 1e-6) -> dict[str, Any]:
    population = parse(spec)
    cost = cost or Cost(any=0.1, rho_any=0.01)
    report = report_with_delta(Question(population), cost, delta)
    best = report.best
    step = step_of(population, best, report)
    step["conclusion"]["epsilon"] = certified_level(step)
    declared_level(step)
    return step


def refused(step: dict[str, Any], **change: Any) -> str:
    with pytest.raises(
        (InvalidError, LookupError, TypeError, ValueError, ArithmeticError)
    ) as refusal:
        declared_level(step)
    return str(refusal.value)


@pytest.mark.parametrize("spec", [CHAIN, PAIR, GRID, {"model": "clusters", "size": 3}])
def test_a_step_that_says_more_is_refused(spec: dict[str, Any]) -> None:
    honest = a_step(spec)
    point = honest["evidence"]["delta"]["way"] == "point"
    changes: list[tuple[str, Any]] = [
        ("epsilon", lambda s: s["conclusion"].update(epsilon=s["conclusion"]["epsilon"] * 0.9999)),
        ("delta", lambda s: s["conclusion"].update(delta=0.9 * s["conclusion"]["delta"])),
        ("no delta", lambda s: s["conclusion"].pop("delta")),
        ("delta 0", lambda s: s["conclusion"].update(delta=0.0)),
        ("delta 1", lambda s: s["conclusion"].update(delta=1.0)),
        ("order", lambda s: s["evidence"]["delta"].update(alpha=[1, 1])),
        ("order below 1", lambda s: s["evidence"]["delta"].update(alpha=[1, 2])),
        ("order of floats", lambda s: s["evidence"]["delta"].update(alpha=[2.5, 1])),
        ("order of nothing", lambda s: s["evidence"]["delta"].update(alpha=[3, 0])),
        ("another order", lambda s: s["evidence"]["delta"].update(alpha=[3, 2])),
        ("no order", lambda s: s["evidence"]["delta"].update(alpha=None)),
        ("way", lambda s: s["evidence"]["delta"].update(way="magic")),
        (
            "stated",
            lambda s: s["evidence"]["delta"].update(way="stated", dp_epsilon=0.1, dp_delta=1e-9),
        ),
        ("counted", lambda s: s["evidence"]["delta"].update(counted="twice")),
        ("counted as zCDP", lambda s: s["evidence"]["delta"].update(counted="zcdp")),
        ("no proof", lambda s: s["evidence"].pop("delta")),
        ("more noise's cost", lambda s: s["evidence"]["cost"].update(rho_any=0.02)),
        ("negative", lambda s: s["evidence"]["cost"].update(rho_slack=-1.0)),
    ]
    if point:
        proof = honest["evidence"]["delta"]
        changes += [
            (
                "point",
                lambda s: s["evidence"]["delta"].update(dp_epsilon=0.9 * proof["dp_epsilon"]),
            ),
            (
                "point's delta",
                lambda s: s["evidence"]["delta"].update(dp_delta=0.5 * proof["dp_delta"]),
            ),
            ("a point of 0", lambda s: s["evidence"]["delta"].update(dp_delta=0.0)),
            ("a divergence", lambda s: s["evidence"]["delta"].update(way="renyi")),
        ]
    for name, change in changes:
        step = copy.deepcopy(honest)
        change(step)
        try:
            refused(step)
        except pytest.fail.Exception:
            raise AssertionError(name) from None


def test_rules_that_know_nothing_of_divergences() -> None:
    for rule in ("markov-recursion", "markov-ratio", "markov-contraction", "graph-influence"):
        step = a_step(CHAIN)
        step["rule"] = rule
        step["conclusion"]["epsilon"] = 100.0
        kept = {name: step["evidence"]["delta"][name] for name in ("counted", "alpha")}
        step["evidence"] |= {"delta": kept | {"way": "renyi"}, "details": {}}
        assert "divergence" in refused(step) or "not about the model" in refused(step)
    plain = a_step(CHAIN)
    del plain["evidence"]["delta"]
    plain["conclusion"] |= {"epsilon": 100.0}
    for adversary in ADVERSARIES:
        plain["conclusion"]["adversary"] = adversary
        assert "delta" in refused(plain)


def test_a_point_is_converted_by_a_level_of_all_mechanisms() -> None:
    """Neither a count's own level nor a Lipschitz factor says anything of other events."""
    step = a_step({"model": "markov", "transition": [[0.2, 0.8], [0.7, 0.3]], "length": 9})
    assert step["evidence"]["delta"]["way"] == "point"
    counted = copy.deepcopy(step)
    counted["rule"] = "markov-count"
    counted["evidence"]["details"] = {"mechanism": "discrete-laplace on a count over a complete "}
    refused(counted)
    gaussian = a_step(PAIR, Cost(lipschitz=0.1, rho_lipschitz=0.01))
    assert gaussian["evidence"]["delta"]["way"] == "renyi"
    point = {"way": "point", "dp_epsilon": 1.0, "dp_delta": 1e-8}
    gaussian["evidence"]["delta"] |= point
    gaussian["conclusion"]["epsilon"] = 100.0
    assert "Lipschitz" in refused(gaussian)


def test_the_delta_of_a_point_follows_from_its_level() -> None:
    """The least delta is `dp_delta (e^L - 1) / (e^eps - 1)`, with the proved `L`."""
    step = a_step(CHAIN)
    proof = step["evidence"]["delta"]
    assert step["rule"] == "markov-recursion"
    growth = math.expm1(step["conclusion"]["epsilon"]) / math.expm1(proof["dp_epsilon"])
    due = proof["dp_delta"] * growth
    step["conclusion"]["delta"] = due * (1 + 1e-12)
    declared_level(step)
    step["conclusion"]["delta"] = due * (1 - 1e-12)
    assert "delta does not follow" in refused(step)


def test_members_of_a_family() -> None:
    spec = {"model": "family", "members": [PAIR, {"model": "clusters", "size": 3}]}
    population = parse(spec)
    report = report_with_delta(Question(population), Cost(any=0.1, rho_any=0.01), 1e-6)
    honest = step_of(population, report.best, report)
    for step in (*honest["premises"], honest):
        step["conclusion"]["epsilon"] = certified_level(step)
    declared_level(honest)
    for change in (
        lambda s: s["premises"][1]["conclusion"].update(delta=1e-5),
        lambda s: s["premises"][1]["conclusion"].update(epsilon=1e-3),
        lambda s: s["premises"][1]["evidence"].pop("delta"),
        lambda s: s["premises"][0]["evidence"]["cost"].update(rho_any=0.001),
        lambda s: s["premises"][0]["evidence"]["delta"].update(counted="zcdp"),
        lambda s: s["conclusion"].update(delta=1e-7),
        lambda s: s["conclusion"].pop("delta"),
        lambda s: s.update(premises=s["premises"][:1]),
    ):
        step = copy.deepcopy(honest)
        change(step)
        refused(step)
    informed = copy.deepcopy(honest)
    informed["conclusion"]["adversary"] = "informed"
    refused(informed)  # its members speak of another adversary, and its noise still costs


def test_dp_at_a_delta() -> None:
    cost = Cost(any=0.2, lipschitz=0.1, rho_any=0.01)
    (bound,) = dp_bounds(cost, 1e-6)
    proof = dict(bound.proof) | {"alpha": list(float(bound.proof["alpha"]).as_integer_ratio())}
    step: dict[str, Any] = {
        "rule": "approximate-dp",
        "conclusion": {"notion": "dp", "epsilon": bound.epsilon, "delta": 1e-6},
        "evidence": {"cost": plain_cost(cost), "delta": proof},
        "premises": [],
    }
    assert certified_level(step) == pytest.approx(bound.epsilon, rel=1e-12)
    assert certified_level(step) <= bound.epsilon
    step["conclusion"]["delta"] = 1e-7
    assert certified_level(step) > bound.epsilon
    for wrong in ({"delta": 0.0}, {"delta": 1.5}, {"notion": "bdp"}):
        with pytest.raises(InvalidError):
            certified_level({**step, "conclusion": {**step["conclusion"], **wrong}})


def test_spends_are_added_by_what_they_are() -> None:
    base = {
        "dataset": "d", "unit": "row", "query": "q", "column": "x", "interval": None, "slack": 0.0,
        "mechanism": "m", "dp_delta": 0.0, "reads": ["x"],
    }  # fmt: skip
    moved = {**base, "kind": "lipschitz", "interval": [0.0, 1.0]}
    stated = [
        {**moved, "dp_epsilon": 0.25, "slack": 0.125},
        {**moved, "dp_epsilon": 0.0, "rho": 0.5, "slack": 0.0625},
        {**base, "kind": "any", "dp_epsilon": 0.5, "rho": 0.0},
        {**base, "kind": "any", "dp_epsilon": 0.0, "rho": 1.0},
    ]
    spends = spent(map(read_spend, stated))
    pair = read_population(PAIR)
    cost, _ = compose(spends, pair, ["x"], (Fraction(0), Fraction(1)))
    actual = [float(getattr(cost, name)) for name in ("any", "lipschitz", "slack")]
    assert actual == [0.5, 0.25, 0.125]
    actual = [float(getattr(cost, name)) for name in ("rho_any", "rho_lipschitz", "rho_slack")]
    assert actual == [1.0, 0.5, 0.0625]
    zcdp, _ = compose(as_zcdp(spends), pair, ["x"], (Fraction(0), Fraction(1)))
    assert zcdp.total == 0
    assert float(zcdp.rho_any) == 1.125
    assert float(zcdp.rho_lipschitz) == 0.53125
    assert float(zcdp.rho_slack) == 0.0703125
    for wrong in ({"dp_epsilon": 0.5, "rho": 0.5}, {"dp_epsilon": 0.0, "rho": -0.5}):
        with pytest.raises(StatementError):
            read_spend({**base, "kind": "any", **wrong})


# -- whole certificates -----------------------------------------------------------------


def certificate(spec: dict[str, Any], cost: Cost | None = None) -> dict[str, Any]:
    population = parse(spec)
    report = report_with_delta(Question(population), cost or Cost(any=0.1, rho_any=0.01), 1e-6)
    return dict(json.loads(conversion_certificate(population, report).to_json()))


def verdict(document: dict[str, Any]) -> str:
    return check(read(json.dumps(sealed(document)))).verdict


@pytest.mark.parametrize(
    "spec",
    [CHAIN, PAIR, GRID, {"model": "family", "members": [PAIR, {"model": "clusters", "size": 3}]}],
    ids=str,
)
def test_certificates_of_conversions(spec: dict[str, Any]) -> None:
    honest = certificate(spec)
    assert verdict(honest) == "VALID ASSUMING"
    claim = honest["claim"]
    assert (claim["delta"], claim["dp_epsilon"], claim["dp_rho"]) == (1e-6, 0.1, 0.01)
    for change in (
        {"epsilon": claim["epsilon"] * 0.999},
        {"delta": 0.0},
        {"delta": 1e-7},
        {"delta": 1.0},
        {"delta": None},
        {"dp_rho": 0.02},
        {"dp_rho": 0.009},
        {"dp_epsilon": 0.2},
        {"dp_delta": 1e-9},
        {"cost": claim["cost"] | {"rho_any": 0.011}},
    ):
        assert verdict({**honest, "claim": {**claim, **change}}) == "INVALID", change
    assert verdict({**honest, "claim": {**claim, "delta": 1e-5}}) == "VALID ASSUMING"


def test_lipschitz_noise_on_gaussian_records() -> None:
    honest = certificate(PAIR, Cost(lipschitz=0.1, rho_lipschitz=0.01, rho_slack=1e-14))
    assert honest["derivation"]["rule"].startswith("gaussian-")
    assert verdict(honest) == "VALID ASSUMING"
    other = copy.deepcopy(honest)
    moved = {"any": 0.1, "lipschitz": 0.0, "rho_any": 0.01, "rho_lipschitz": 0.0}
    other["claim"]["cost"] |= moved
    other["derivation"]["evidence"]["cost"] |= moved
    assert verdict(other) == "INVALID"


def test_certificates_of_a_stated_pair() -> None:
    population = parse(CHAIN)
    report = stated_report(Question(population), ApproxDP(0.1, 1e-8))
    honest = dict(json.loads(conversion_certificate(population, report).to_json()))
    assert verdict(honest) == "VALID ASSUMING"
    claim, step = honest["claim"], honest["derivation"]
    assert (claim["dp_epsilon"], claim["dp_delta"]) == (0.1, 1e-8)
    assert 1e-8 < claim["delta"] < 1e-7
    for change in ({"dp_delta": 1e-7}, {"dp_delta": 0.0}, {"delta": 1e-8}, {"epsilon": 0.1}):
        assert verdict({**honest, "claim": {**claim, **change}}) == "INVALID", change
    less = copy.deepcopy(honest)
    less["derivation"]["evidence"]["delta"]["dp_epsilon"] = 0.01
    assert verdict(less) == "INVALID"
    stated = stated_step(step)
    conversion = read_conversion(stated, declared_cost(stated.evidence.cost))
    with pytest.raises(InvalidError):  # a release must derive its DP delta
        conversion_level(stated, conversion)


def test_a_stated_pair_for_a_family() -> None:
    """Each member has a pure level: a member's own delta would count twice."""
    small = {"model": "markov", "transition": [[0.6, 0.4], [0.2, 0.8]], "length": 7}
    population = parse({"model": "family", "members": [CHAIN, small]})
    report = stated_report(Question(population), ApproxDP(0.1, 1e-8))
    assert report.best.theorem == "family"
    due = stated_report(Question(parse(CHAIN)), ApproxDP(0.1, 1e-8)).best
    assert (report.best.epsilon, report.best.delta) == (due.epsilon, due.delta)
    honest = dict(json.loads(conversion_certificate(population, report).to_json()))
    assert verdict(honest) == "VALID ASSUMING"
    members = honest["derivation"]["premises"]
    assert [member["conclusion"].keys() for member in members] == [
        {"notion", "epsilon", "adversary"}
    ] * 2
    part = stated_report(Question(parse(CHAIN)), ApproxDP(0.1, 1e-8))
    other = dict(json.loads(conversion_certificate(parse(CHAIN), part).to_json()))
    lie = copy.deepcopy(honest)
    lie["derivation"]["premises"][0] = other["derivation"]
    assert verdict(lie) == "INVALID"
    gaussian = dict(json.loads(json.dumps(certificate(CHAIN)["derivation"])))
    gaussian["evidence"]["cost"] = members[0]["evidence"]["cost"]
    lie["derivation"]["premises"][0] = gaussian
    assert verdict(lie) == "INVALID"


def test_costs_counted_as_zcdp_need_their_spends() -> None:
    honest = certificate({"model": "clusters", "size": 2}, Cost(any=0.01, rho_any=0.01))
    honest["derivation"]["evidence"]["delta"]["counted"] = "zcdp"
    honest["derivation"]["evidence"]["cost"] |= {"any": 0.0, "rho_any": 0.01 + 0.01**2 / 2}
    honest["claim"]["cost"] = honest["derivation"]["evidence"]["cost"]
    assert verdict(honest) == "INVALID"
