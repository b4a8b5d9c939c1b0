"""Studies with a delta: which noise is chosen, what it costs, and certificates that hold."""

from __future__ import annotations

import copy
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import log_ndtr

from bayesdp.accounting.costs.composition import level
from bayesdp.accounting.costs.readings import Reading
from bayesdp.certificate import content_of, digest
from bayesdp.errors import (
    BayesdpError,
    BudgetExceededError,
    InputError,
    LedgerError,
    Refusal,
    TableMismatchError,
)
from bayesdp.kernel import check
from bayesdp.mechanisms import DiscreteGaussian
from bayesdp.release import Study
from bayesdp.release.price.plan import error_ratio, make_plan
from bayesdp.report.plain import check_document
from tests.chance import Chance, discrete_gaussian, within
from tests.effort import runs
from tests.kernel.mutations import lower
from tests.release.studies import random_study

DELTA = 1e-6
SIZE, GROUPS = 4, 10
N = SIZE * GROUPS
RNG = np.random.default_rng(7)
TABLE = pd.DataFrame(
    {
        "s": RNG.integers(0, 2, N),
        "x": RNG.uniform(0, 10, N),
        "z": RNG.uniform(0, 5, N),
        "g": np.repeat(range(GROUPS), SIZE),
        "t": np.tile(range(SIZE), GROUPS),
        "h": np.resize(["a", "b"], N),
    }
)
COLUMNS: dict[str, Any] = {
    "x": {"bounds": [0, 10], "unit": "kg"},
    "s": {"states": [0, 1]},
    "z": {"bounds": [-1, 5], "independent": True},
    "h": {"public": True, "states": ["a", "b"]},
}
CLUSTER = {"g": {"role": "cluster"}}
SERIES = {"g": {"role": "series"}, "t": {"role": "order", "step": 1}}
CHAIN = {"model": "markov", "transition": [[0.8, 0.2], [0.4, 0.6]], "length": SIZE}
COVARIANCE = (0.8 * np.eye(SIZE) + 0.2).tolist()
POPULATIONS: dict[str, tuple[dict[str, Any] | None, dict[str, Any]]] = {
    "dp": (None, {}),
    "clusters": ({"model": "clusters", "size": SIZE, "covers": ["s", "x"]}, CLUSTER),
    "chain": (CHAIN | {"covers": ["s"]}, SERIES),
    "gaussian": ({"model": "gaussian", "covariance": COVARIANCE, "covers": ["x"]}, CLUSTER),
    "series": ({"model": "autoregressive", "coefficient": 0.4, "length": SIZE}, SERIES),
    "family": ({"model": "family", "members": [CHAIN, CHAIN], "covers": ["s"]}, SERIES),
}


def queries(kind: str) -> list[dict[str, Any]]:
    """Counts, shares, cells, sums with and without private conditions, by group."""
    made: list[dict[str, Any]] = [
        {"name": "sum of z", "kind": "sum", "column": "z", "where": "z > 1"},
        {"name": "by", "kind": "mean", "column": "z", "by": "h"},
    ]
    if kind in ("dp", "clusters", "chain", "family"):
        made += [
            {"name": "ones", "kind": "count", "where": "s == 1", "weight": 2.0},
            {"name": "share", "kind": "proportion", "where": "s == 1", "error": 6.0},
            {"name": "cells", "kind": "histogram", "column": "s", "by": "h"},
        ]
    if kind in ("dp", "clusters", "gaussian", "series"):
        made += [
            {"name": "mean", "kind": "mean", "column": "x"},
            {"name": "bins", "kind": "histogram", "column": "x", "bins": [0, 2, 5, 10]},
        ]
    return made


def study(
    kind: str, ledger: Path, asked: list[dict[str, Any]] | None = None, **budget: Any
) -> Study:
    population, columns = POPULATIONS[kind]
    if population is not None:
        population = {"covers": ["x"], "source": "made up"} | population
    notion = "dp" if population is None else "bdp"
    return Study(
        TABLE,
        dataset="made-up",
        n=N,
        columns=COLUMNS | columns,
        population=population,
        budget={"notion": notion, "epsilon": 1.0, "delta": DELTA, "spend": 0.4} | budget,
        queries=asked or queries(kind),
        ledger=str(ledger),
    )


def counts(number: int) -> list[dict[str, Any]]:
    return [{"name": f"q{i}", "kind": "count", "where": "s == 1"} for i in range(number)]


# -- which noise ------------------------------------------------------------------------


def test_one_count_has_laplace_noise_and_many_have_gaussian(tmp_path: Path) -> None:
    few = study("clusters", tmp_path / "l.db", counts(1)).check().plan
    many = study("clusters", tmp_path / "l.db", counts(30)).check().plan
    assert (few.noise, many.noise) == ("laplace", "gaussian")
    assert few.choice is not None
    assert many.choice is not None
    assert few.choice.ratio is not None
    assert many.choice.ratio is not None
    assert few.choice.ratio > 2
    assert many.choice.ratio < 0.7
    assert "times as large" in many.choice.words()
    assert few.dp_rho == 0 < few.dp_epsilon
    assert many.dp_epsilon == 0 < many.dp_rho
    assert few.delta == 0.0
    assert many.delta == DELTA


def test_the_choice_is_the_geometric_mean_over_the_released_numbers(tmp_path: Path) -> None:
    asked = [
        {"name": "cells", "kind": "histogram", "column": "s", "by": "h", "confidence": 0.9},
        {"name": "ones", "kind": "count", "where": "s == 1", "confidence": 0.99},
        {"name": "exact", "kind": "count", "where": "s == 0", "error": 400.0},
    ]
    made = study("clusters", tmp_path / "l.db", asked)
    laplace, gaussian = (make_plan(made.spec, noise=name) for name in ("laplace", "gaussian"))
    # four cells, one count, and one number that has its error either way
    logs = [4 * math.log(_error(gaussian, 0, 0.9) / _error(laplace, 0, 0.9))]
    logs += [math.log(_error(gaussian, 1, 0.99) / _error(laplace, 1, 0.99))]
    due = math.exp(sum(logs) / 6)
    assert error_ratio(gaussian, laplace) == pytest.approx(due, rel=1e-12)
    chosen = make_plan(made.spec)
    assert chosen.choice is not None
    assert chosen.choice.ratio == pytest.approx(due, rel=1e-12)
    assert chosen.noise == ("gaussian" if due < 1 else "laplace")
    other = laplace if due < 1 else gaussian
    assert chosen.choice.other_errors == tuple(q.error(q.confidence, N) for q in other.queries)


def _error(plan: Any, position: int, confidence: float) -> float:
    return float(plan.queries[position].error(confidence, N))


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_noise_may_be_named(noise: str, tmp_path: Path) -> None:
    for number in (1, 30):
        plan = study("clusters", tmp_path / "l.db", counts(number), noise=noise).check().plan
        assert plan.noise == noise
        assert plan.choice is None


def test_without_a_delta_noise_is_laplace(tmp_path: Path) -> None:
    plan = study("clusters", tmp_path / "l.db", counts(30), delta=0.0).check().plan
    assert (plan.noise, plan.choice, plan.reading.delta) == ("laplace", None, 0.0)


def test_wanted_errors_are_kept_by_both_and_may_decide(tmp_path: Path) -> None:
    """Thirty counts within an error that only Gaussian noise can pay for."""
    asked = [count | {"error": 240.0} for count in counts(30)]
    plan = study("clusters", tmp_path / "l.db", asked, spend=1.0).check().plan
    assert plan.noise == "gaussian"
    assert plan.choice is not None
    assert plan.choice.refusal is not None
    assert "wanted errors alone" in plan.choice.refusal
    assert all(239 <= (query.error(0.95, N) or 0) <= 240 for query in plan.queries)
    assert plan.level <= 1.0
    few = study("clusters", tmp_path / "l.db", asked[:1], spend=1.0).check().plan
    assert few.noise == "laplace"  # both reach it, and Laplace noise needs no delta
    with pytest.raises(BudgetExceededError, match="wanted errors alone"):
        study("clusters", tmp_path / "l.db", [item | {"error": 30.0} for item in asked]).check()


def test_weights_share_rho(tmp_path: Path) -> None:
    asked = counts(30)
    asked[0]["weight"] = 4.0
    plan = study("clusters", tmp_path / "l.db", asked).check().plan
    rhos = [query.dp_rho for query in plan.queries]
    assert plan.noise == "gaussian"
    assert rhos[0] / rhos[1] == pytest.approx(4, rel=1e-9)
    scales = [query.noise.scale for query in plan.queries]
    assert scales[1] / scales[0] == pytest.approx(2, rel=1e-9)


# -- what it costs -----------------------------------------------------------------------


def log_normal_delta(distance: float, epsilon: float) -> float:
    """ln of the exact delta of normal noise, means `distance` scales apart (Balle & Wang)."""
    high = float(log_ndtr(distance / 2 - epsilon / distance))
    low = epsilon + float(log_ndtr(-distance / 2 - epsilon / distance))
    return high + math.log1p(-math.exp(low - high))


@pytest.mark.parametrize(("kind", "group"), [("dp", 1), ("clusters", SIZE)])
@pytest.mark.parametrize("number", [1, 30])
def test_the_level_holds_by_the_exact_curve(
    kind: str, group: int, number: int, tmp_path: Path
) -> None:
    """All records of a group move every count by 1 each: normal laws a known distance apart.

    An independent route: the exact curve of normal noise, not Rényi divergences.
    """
    plan = study(kind, tmp_path / "l.db", counts(number), noise="gaussian").check().plan
    distance = math.sqrt(sum((group / query.noise.scale) ** 2 for query in plan.queries))
    assert distance == pytest.approx(group * math.sqrt(2 * plan.dp_rho), rel=1e-9)
    assert log_normal_delta(distance, plan.level) <= math.log(DELTA)
    # and the budget is used: a tenth more would break it
    assert log_normal_delta(1.1 * distance, plan.level) > math.log(DELTA)


def test_a_histogram_moves_two_cells_by_one(tmp_path: Path) -> None:
    asked = [{"name": "cells", "kind": "histogram", "column": "s"}, *counts(1)]
    plan = study("dp", tmp_path / "l.db", asked, noise="gaussian").check().plan
    cells, count = plan.queries
    assert (cells.sensitivity, count.sensitivity) == (2, 1)
    assert cells.noise.scale / count.noise.scale == pytest.approx(math.sqrt(2), rel=1e-9)


def test_records_of_several_rows_count_by_their_rows(tmp_path: Path) -> None:
    made = Study(
        TABLE.assign(person=np.arange(N) // 2, half=np.arange(N) % 2),
        dataset="many",
        n=N // 2,
        unit="person",
        rows_per_unit=3,
        columns=COLUMNS | {"person": {"public": True}, "half": {"public": True, "states": [0, 1]}},
        population={"model": "independent", "covers": ["s", "x"], "source": "made up"},
        budget={"epsilon": 1.0, "delta": DELTA, "noise": "gaussian"},
        queries=[
            {"name": "cells", "kind": "histogram", "column": "s"},
            {"name": "ones", "kind": "count", "where": "s == 1"},
            {"name": "sum", "kind": "sum", "column": "x"},
            {"name": "parts", "kind": "sum", "column": "x", "by": "half"},
        ],
        ledger=str(tmp_path / "l.db"),
    )
    cells, ones, total, parts = made.check().plan.queries
    assert (cells.sensitivity, ones.sensitivity) == (18, 9)
    assert total.grid is not None
    assert total.sensitivity == (3 * total.grid.sensitivity) ** 2
    assert parts.grid is not None
    assert parts.sensitivity == 2 * (3 * parts.grid.sensitivity) ** 2
    document = json.loads(made.release().certificate.to_json())
    assert check(document).verdict == "VALID ASSUMING"
    for step, less in ((0, 17), (1, 8), (3, parts.sensitivity - 1)):
        changed = copy.deepcopy(document)
        at(changed, "composition", step)["evidence"]["sensitivity_squared"] = less
        assert verdict(changed) == "INVALID"


# -- releases ----------------------------------------------------------------------------


def at(document: dict[str, Any], *path: Any) -> Any:
    """A part of a certificate; `composition` is the list of the queries' steps."""
    if path[0] == "composition":
        step = document["derivation"]
        while step["rule"] != "sequential-composition":
            step = step["premises"][0]
        document, path = step["premises"], path[1:]
    for key in path:
        document = document[key]
    return document


def verdict(document: dict[str, Any]) -> str:
    return check(document | {"digest": digest(content_of(document))}).verdict


def changes(document: dict[str, Any]) -> dict[str, Any]:
    """Claims that don't follow, by name."""
    own = document["derivation"]["premises"][0]
    first = at(document, "composition", 0)
    spend, evidence = first["evidence"]["spend"], first["evidence"]
    result, state, claim = document["results"][0], document["data_set"], document["claim"]
    composition = own if own["rule"] == "sequential-composition" else own["premises"][0]

    def update(part: dict[str, Any], **values: Any) -> Any:
        return lambda: part.update(values)

    made = {
        "claim: epsilon": update(claim, epsilon=claim["epsilon"] * 0.999),
        "claim: delta": update(claim, delta=claim["delta"] * 0.999),
        "claim: no delta": update(claim, delta=0.0),
        "claim: a larger delta": update(claim, delta=1e-5),
        "claim: rho": update(claim, dp_rho=claim["dp_rho"] * 0.999),
        "claim: no rho": lambda: claim.pop("dp_rho"),
        "release: delta": update(document["derivation"]["conclusion"], delta=1e-7),
        "level": update(own["conclusion"], epsilon=own["conclusion"]["epsilon"] * 0.999),
        "composition: rho": update(
            composition["conclusion"], rho=composition["conclusion"]["rho"] * 0.999
        ),
        "composition: no rho": lambda: composition["conclusion"].pop("rho"),
        "query: rho": update(first["conclusion"], rho=first["conclusion"]["rho"] * 0.999),
        "query: rule": update(first, rule="discrete-laplace"),
        "spend: rho": update(spend, rho=spend["rho"] * 0.999),
        "spend: pure": update(spend, dp_epsilon=spend["rho"], rho=0.0),
        "spend: both": update(spend, dp_epsilon=0.1),
        "spend: mechanism": update(spend, mechanism="discrete-laplace"),
        "spend: block": update(spend, block={"column": "h", "values": ["a"]}),
        "sensitivity": update(evidence, sensitivity_squared=evidence["sensitivity_squared"] - 1),
        "scale": update(evidence, scale=evidence["scale"] * 0.999),
        "result: scale": update(result["noise"], scale=result["noise"]["scale"] * 0.999),
        "result: law": update(result["noise"], distribution="discrete-laplace"),
        "result: rho": update(result, dp_rho=result["dp_rho"] * 0.999),
        "result: error": update(result["error"], value=result["error"]["value"] * 0.99),
        "state: rho": update(state, dp_rho=state["dp_rho"] * 0.999),
        "state: no rho": lambda: state.pop("dp_rho"),
        "state: level": update(state, level=state["level"] * 0.999),
        "state: delta": update(state, delta=DELTA / 2),
        "assumptions": lambda: document["assumptions"].pop(),
    }
    asked = evidence["query"]["name"]
    mine = [item for item in document["results"] if item["query"] == asked]

    def quieter() -> None:
        for part in (evidence, *(item["noise"] for item in mine)):
            part["scale"] *= 0.999

    made["less noise at the same cost"] = quieter
    parts = [*document["derivation"]["premises"], *own["premises"]]
    costs = [part["evidence"]["cost"] for part in parts if "cost" in part["evidence"]]
    if any(cost["rho_slack"] > 0 for cost in costs):

        def half_slack() -> None:
            for step in composition["premises"]:
                step["evidence"]["spend"]["slack"] *= 0.5
            for spent in document["data_set"]["earlier_spends"]:
                spent["slack"] *= 0.5
            for cost in costs:
                cost["rho_slack"] *= 0.5

        made["half the slack"] = half_slack
    if "delta" in own["evidence"]:
        proof = own["evidence"]["delta"]
        numerator, denominator = proof["alpha"]
        cost = own["evidence"]["cost"]
        made |= {
            "proof: alpha": update(proof, alpha=[numerator * 2, denominator]),
            "proof: no alpha": update(proof, alpha=None),
            "proof: an alpha of 1": update(proof, alpha=[1, 1]),
            "proof: way": update(proof, way="guessed"),
            "proof: counted": update(proof, counted="not"),
            "proof: none": lambda: own["evidence"].pop("delta"),
            "conclusion: delta": update(own["conclusion"], delta=own["conclusion"]["delta"] / 2),
            "cost": lambda: cost.update(
                {name: value * 0.999 for name, value in cost.items() if name != "by_column"}
            ),
        }
    if document["data_set"]["earlier_spends"]:
        earlier = document["data_set"]["earlier_spends"]
        made |= {
            "earlier: forgotten": lambda: earlier.pop(),
            "earlier: rho": update(earlier[0], rho=earlier[0]["rho"] / 2),
            "earlier: free": update(earlier[0], rho=0.0),
        }
    return made


@pytest.mark.parametrize("kind", POPULATIONS)
def test_two_releases_on_one_ledger_with_certificates_that_hold(kind: str, tmp_path: Path) -> None:
    made = study(kind, tmp_path / "l.db", noise="gaussian")
    levels = []
    for _ in range(2):
        done = made.release(again=True)
        document = json.loads(done.certificate.to_json())
        actual = check(document)
        assert actual.verdict == "VALID ASSUMING", actual
        assert any("discrete Gaussian sampler" in said for said in actual.assuming)
        assert (done.delta, done.dp_epsilon) == (DELTA, 0.0)
        assert 0 < done.level <= 0.4
        for result in done:
            assert isinstance(result.noise, DiscreteGaussian)
            assert result.dp_rho > 0 == result.dp_epsilon
            for confidence in (0.8, 0.95):
                due = result.noise.quantile(confidence) * result.noise_unit
                assert result.error(confidence) == due
        levels.append(document["data_set"]["level"])
    assert 0 < levels[0] < levels[1] <= 1.0
    (shown,) = made.ledger().show()
    assert levels[1] == pytest.approx(shown["readings"][0]["level"], rel=1e-9)
    assert "delta 1e-06" in shown["readings"][0]["words"]
    names = list(changes(document))
    for name in names:
        wrong = copy.deepcopy(document)
        changes(wrong)[name]()
        assert verdict(wrong) in ("INVALID", "UNKNOWN"), name
        assert name == "spend: block" or verdict(wrong) == "INVALID", name


@pytest.mark.prove
@pytest.mark.parametrize("case", range(runs(200)))
def test_random_studies_with_a_delta(case: int, tmp_path: Path) -> None:
    """Any queries, populations, adversaries and units; the second release counts the first."""
    rng = np.random.default_rng([case, 31])
    delta = float(10 ** rng.uniform(-12, -3))
    noise = str(rng.choice(["auto", "gaussian", "gaussian"]))
    made = random_study(rng, tmp_path / "l.db", delta=delta, noise=noise)
    done = None
    for _ in range(2):
        try:
            done = made.release(again=True)
        except (BudgetExceededError, TableMismatchError):
            break  # wanted errors cost too much, or a mean of no rows
        document = json.loads(done.certificate.to_json())
        actual = check(document)
        assert actual.verdict == "VALID ASSUMING", actual
        assert done.delta in (0.0, delta)
        for share in (0.9, 1 - 1e-6):
            wrong = copy.deepcopy(document)
            lower(wrong, share, wrong["claim"]["notion"])
            assert verdict(wrong) == "INVALID"


def test_a_budget_is_used_up(tmp_path: Path) -> None:
    made = study("clusters", tmp_path / "l.db", counts(30), spend=0.9)
    assert made.check().plan.noise == "gaussian"
    made.release()
    with pytest.raises(BudgetExceededError, match=r"At 0\.\d+ times their costs"):
        made.release(again=True)


def test_laplace_and_gaussian_releases_on_one_ledger(tmp_path: Path) -> None:
    """A reading with a delta reads both, together."""
    first = study("clusters", tmp_path / "l.db", counts(1)).release()
    assert first.delta == 0.0
    assert first.dp_rho == 0.0
    second = study("clusters", tmp_path / "l.db", counts(30), spend=0.3).release()
    assert second.delta == DELTA
    document = json.loads(second.certificate.to_json())
    assert verdict(document) == "VALID ASSUMING"
    assert document["data_set"]["level"] > max(first.level, second.level)
    assert document["data_set"]["dp_epsilon"] > 0 < document["data_set"]["dp_rho"]
    third = study("clusters", tmp_path / "l.db", counts(1), spend=0.05).release()
    assert verdict(json.loads(third.certificate.to_json())) == "VALID ASSUMING"


def test_a_ledger_with_a_pure_reading_refuses_gaussian_noise(tmp_path: Path) -> None:
    ledger = tmp_path / "l.db"
    pure = study("clusters", ledger, counts(1), delta=0.0)
    pure.release()
    gaussian = study("clusters", ledger, counts(30))
    with pytest.raises(LedgerError, match="registered"):
        gaussian.release()
    from bayesdp.release.price.plan import reading_of

    gaussian.ledger().register("made-up", "row", reading_of(gaussian.spec))
    with pytest.raises(Refusal, match="no level without a delta"):
        gaussian.release()
    assert len(gaussian.ledger().spends("made-up")) == 1  # nothing was spent
    few = study("clusters", ledger, counts(1), spend=0.3)
    assert few.release().delta == 0.0  # Laplace noise is read by both


def test_gaussian_spends_have_no_pure_level(tmp_path: Path) -> None:
    plan = study("clusters", tmp_path / "l.db", counts(30)).check().plan
    with pytest.raises(Refusal, match="no level without a delta"):
        level(Reading("dp", 100.0), plan.spends)


def test_released_noise_has_the_planned_scale_and_no_other(tmp_path: Path, chance: Chance) -> None:
    """Empty cells: their noise alone."""
    made = Study(
        pd.DataFrame({"x": np.zeros(50)}),
        dataset="empty",
        n=50,
        columns={"x": {"bounds": [0.0, 1.0]}},
        population={"model": "independent", "covers": ["x"], "source": "made up"},
        budget={"epsilon": 0.2, "delta": DELTA, "noise": "gaussian"},
        queries=[
            {"name": name, "kind": "histogram", "column": "x", "bins": np.linspace(0, 1, 1902)}
            for name in ("first", "second")
        ],
        ledger=str(tmp_path / "l.db"),
    )
    done = made.release()
    values = [int(result.value) for result in done if result.cell != done.results[0].cell]
    assert len(values) == 2 * 1900
    scale = done.results[0].noise.scale
    rho = done.dp_rho / 2
    assert scale == pytest.approx(math.sqrt(2 / (2 * rho)), rel=1e-9)
    assert scale > 20
    reach, true = 1.4 * scale, discrete_gaussian(scale)
    hits = sum(abs(value) <= reach for value in values)
    chance.expect(hits, len(values), within(true, reach))
    for factor in (1.2, 0.83):
        claimed = within(discrete_gaussian(factor * scale), reach)
        chance.expect_not(hits, len(values), claimed, within(true, reach))


# -- what is said and what is refused -----------------------------------------------------


def test_check_says_which_noise_and_why(tmp_path: Path) -> None:
    document = check_document(study("clusters", tmp_path / "l.db", counts(30)).check())
    assert document["noise"]["chosen"] == "gaussian"
    assert document["noise"]["error_ratio"] < 0.7
    assert document["claim"]["delta"] == DELTA
    (error,) = {item["error"]["value"] for item in document["queries"]}
    assert document["noise"]["other_errors"]["q0"] > error
    assert document["queries"][0]["noise"]["distribution"] == "discrete-gaussian"
    assert "dp_epsilon" not in document["queries"][0]
    pure = check_document(study("clusters", tmp_path / "l.db", counts(1), delta=0.0).check())
    assert pure["noise"] == {"chosen": "laplace"}
    assert pure["claim"]["delta"] == 0.0


@pytest.mark.parametrize(
    ("budget", "query", "message"),
    [
        ({"delta": 0.0, "noise": "gaussian"}, {}, "budget.noise .*delta"),
        ({"delta": -1e-6}, {}, "budget.delta"),
        ({"delta": 1.0}, {}, "budget.delta"),
        ({"delta": 1e-40}, {}, "budget.delta .*at least"),
        ({"delta": math.nan}, {}, "budget.delta"),
        ({"noise": "cauchy"}, {}, "budget.noise"),
        ({}, {"tightness": "mechanism"}, r"query\[0\].tightness .*without one"),
    ],
)
def test_what_a_study_may_not_say(
    budget: dict[str, Any], query: dict[str, Any], message: str, tmp_path: Path
) -> None:
    asked = [counts(1)[0] | query]
    with pytest.raises((InputError, BayesdpError), match=message):
        study("chain", tmp_path / "l.db", asked, **budget).check()


def test_a_small_law_has_gaussian_noise_by_its_own_theorem(tmp_path: Path) -> None:
    made = Study(
        TABLE,
        dataset="law",
        n=N,
        columns=COLUMNS | CLUSTER,
        population={
            "model": "finite",
            "probabilities": [[[0.3, 0.1], [0.05, 0.05]], [[0.05, 0.05], [0.1, 0.3]]],
            "covers": ["s"],
            "source": "made up",
        },
        budget={"epsilon": 1.0, "delta": DELTA},
        queries=counts(3),
        ledger=str(tmp_path / "l.db"),
    )
    plan = make_plan(made.spec)
    assert plan.choice is not None
    assert plan.level <= 1.0
    forced = make_plan(made.spec, noise="gaussian")
    assert forced.level <= 1.0
    assert forced.report is not None
    assert forced.report.best.theorem == "finite-law"
    by_size = {bound.theorem: bound.epsilon for bound in forced.report.bounds}["cluster-size"]
    assert by_size > 1.0


def test_pure_costs_counted_as_zcdp_are_proved_as_such(tmp_path: Path) -> None:
    """The kernel proves the level that the plan has: the step states the cost that it converts."""
    study = Study(
        TABLE,
        dataset="many counts",
        n=N,
        columns={"s": COLUMNS["s"], **CLUSTER},
        population={"model": "clusters", "size": SIZE, "covers": ["s"]},
        budget={"epsilon": 1.0, "delta": 1e-4, "noise": "laplace"},
        queries=[{"name": f"q{i}", "kind": "count", "where": "s == 1"} for i in range(60)],
        ledger=str(tmp_path / "ledger.db"),
    )
    plan, sought = study.check().plan, make_plan(study.spec)
    assert plan.report is not None
    assert sought.report is not None
    assert sought.report.best.proof["counted"] == "zcdp"
    assert plan.report.best.proof == sought.report.best.proof
    assert plan.level == pytest.approx(sought.level, rel=1e-9)
