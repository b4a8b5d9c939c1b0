"""Mechanism-aware release: what a count on a chain leaks, and what it leaves in the ledger."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayesdp.certificate import Certificate
from bayesdp.errors import BudgetExceededError, InputError, UnsupportedError
from bayesdp.release import Study
from bayesdp.verification import verify

ALTERNATING = [[0.1, 0.9], [0.8, 0.2]]
PERSISTENT = [[0.9, 0.1], [0.2, 0.8]]
N = 40
COUNT = {"name": "ones", "kind": "count", "where": "s == 1", "tightness": "mechanism"}


def study(folder: Path, transition: Any = ALTERNATING, **changes: Any) -> Study:
    rng = np.random.default_rng(7)
    frame = pd.DataFrame(
        {"t": np.arange(N), "s": rng.integers(0, 2, N), "g": ["a", "b"] * (N // 2)}
    )
    population = {
        "model": "markov", "transition": transition, "length": N, "complete": True,
        "covers": ["s"], "source": "made up",
    }  # fmt: skip
    columns = {
        "s": {"states": [0, 1]},
        "t": {"role": "order", "step": 1},
        "g": {"public": True, "states": ["a", "b"]},
    }
    given: dict[str, Any] = {
        "dataset": "series", "n": N, "columns": columns, "population": population,
        "budget": {"epsilon": 1.0}, "queries": [COUNT], "ledger": str(folder / "ledger.db"),
    }  # fmt: skip
    table = changes.pop("table", frame)
    return Study(table, **(given | changes))


def without(population: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {k: v for k, v in (population | changes).items() if v is not None}


def population_of(study: Study) -> dict[str, Any]:
    assert study.spec.population is not None
    return study.spec.population.spec()


def test_a_count_on_an_alternating_chain_costs_no_more_than_on_independent_records(
    tmp_path: Path,
) -> None:
    aware = study(tmp_path).check().plan
    plain = study(tmp_path / "no", queries=[{**COUNT, "tightness": "dp"}])
    (tmp_path / "no").mkdir()
    assert aware.report is not None
    assert aware.report.best.theorem == "markov-count"
    assert aware.dp_epsilon == pytest.approx(1.0, abs=1e-9)
    assert aware.level <= 1.0
    assert plain.check().plan.dp_epsilon < 0.25


def test_the_certificate_says_so_and_verifies(tmp_path: Path) -> None:
    done = study(tmp_path).release()
    verdict = verify(done.certificate)
    assert verdict.verdict == "VALID ASSUMING", verdict
    assert done.certificate.derivation.premises[0].rule == "markov-count"
    text = done.certificate.to_json()
    assert "complete series of 40" in text
    reread = Certificate.from_dict(json.loads(text))
    assert verify(reread).verdict == "VALID ASSUMING"


def test_positively_correlated_chains_gain_nothing(tmp_path: Path) -> None:
    plan = study(tmp_path, PERSISTENT).check().plan
    assert plan.report is not None
    assert plan.report.best.theorem == "markov-recursion"
    done = study(tmp_path, PERSISTENT).release()
    assert verify(done.certificate).verdict == "VALID ASSUMING"


def test_the_ledger_keeps_the_dp_cost_and_refuses_what_is_no_count(tmp_path: Path) -> None:
    first = study(tmp_path, budget={"epsilon": 1.0, "spend": 0.5})
    first.release()
    (state,) = first.ledger().show()
    assert state["spent"] == pytest.approx(0.5, abs=1e-9)
    (reading,) = state["readings"]
    assert reading["level"] == pytest.approx(0.5, abs=1e-9)
    other = {"name": "zeros", "kind": "histogram", "column": "s"}
    second = study(tmp_path, budget={"epsilon": 1.0, "spend": 0.4}, queries=[other])
    # Together with anything else only the DP level holds: L(0.5 + ...) is far above 1.
    with pytest.raises(BudgetExceededError, match="it would rise to"):
        second.release()
    (state,) = first.ledger().show()
    assert state["spent"] == pytest.approx(0.5, abs=1e-9)


def test_counts_of_the_same_series_add_up(tmp_path: Path) -> None:
    half = {"epsilon": 1.0, "spend": 0.5}
    study(tmp_path, budget=half).release()
    zeros = {**COUNT, "name": "zeros", "kind": "proportion", "where": "s == 0"}
    done = study(tmp_path, budget=half, queries=[zeros]).release()
    assert verify(done.certificate).verdict == "VALID ASSUMING"
    (state,) = study(tmp_path).ledger().show()
    assert state["readings"][0]["level"] == pytest.approx(1.0, abs=1e-9)


def test_after_other_spends_a_count_is_read_at_the_dp_level(tmp_path: Path) -> None:
    other = {"name": "zeros", "kind": "histogram", "column": "s"}
    small = {"epsilon": 1.0, "spend": 0.3}
    study(tmp_path, budget=small, queries=[other]).release()
    with pytest.raises(BudgetExceededError):
        study(tmp_path, budget={"epsilon": 1.0, "spend": 0.6}).release()
    done = study(tmp_path, budget={"epsilon": 1.0, "spend": 0.1}).release()
    assert done.certificate.derivation.premises[0].rule == "markov-count"
    assert done.certificate.derivation.premises[1].rule == "markov-recursion"
    assert verify(done.certificate).verdict == "VALID ASSUMING"


def test_readings_of_other_populations_see_the_dp_cost(tmp_path: Path) -> None:
    first = study(tmp_path)
    gappy = study(
        tmp_path,
        population=without(population_of(first), complete=None),
        budget={"epsilon": 2.0},
        queries=[{**COUNT, "tightness": "dp"}],
    )
    from bayesdp.release.price.plan import reading_of

    ledger = first.ledger()
    ledger.register("series", "row", reading_of(gappy.spec))
    ledger.register("series", "row", reading_of(first.spec))
    # Under the reading that allows gaps a count is any mechanism: L(1) is above 2.
    with pytest.raises(BudgetExceededError):
        first.release()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"queries": [{**COUNT, "where": "s == 1 and g == 'a'"}]}, "over all records"),
        ({"queries": [{**COUNT, "by": "g"}]}, "over all records"),
        ({"queries": [{"name": "h", "kind": "histogram", "column": "s", "tightness": "mechanism"}]},
         "over all records"),
        ({"population": {"model": "independent", "covers": ["s"]}}, "Markov chain"),
        ({"queries": [{**COUNT, "tightness": "exact"}]}, "tightness"),
    ],
)  # fmt: skip
def test_what_is_no_count_over_a_complete_series_is_refused(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        study(tmp_path, **changes).check()


def test_gaps_are_refused(tmp_path: Path) -> None:
    first = study(tmp_path)
    with pytest.raises(UnsupportedError, match="gap"):
        study(tmp_path, population=without(population_of(first), complete=None)).check()
    with pytest.raises(InputError, match=r"data\.n = 80"):
        study(tmp_path, population=without(population_of(first), length=80)).check()
    columns = {
        "s": {"states": [0, 1]}, "t": {"role": "order", "step": 1}, "g": {"role": "series"}
    }  # fmt: skip
    with pytest.raises(InputError, match="one series"):
        study(tmp_path, columns=columns).check()


def test_a_table_with_a_gap_is_refused(tmp_path: Path) -> None:
    from bayesdp.errors import TableMismatchError

    frame = pd.DataFrame(
        {"t": np.arange(N) * 2, "s": [0, 1] * (N // 2), "g": ["a", "b"] * (N // 2)}
    )
    with pytest.raises(TableMismatchError):
        study(tmp_path, table=frame).release()


def tampered(certificate: Certificate, change: Any) -> str:
    from bayesdp.certificate import digest

    data = json.loads(certificate.to_json())
    change(data)
    content = {key: value for key, value in data.items() if key != "digest"}
    return verify(Certificate.from_dict({**content, "digest": digest(content)})).verdict


def test_tampered_certificates_are_not_valid(tmp_path: Path) -> None:
    done = study(tmp_path).release().certificate
    assert tampered(done, lambda data: None) == "VALID ASSUMING"

    def persistent(data: Any) -> None:
        for population in (
            data["population"],
            data["derivation"]["premises"][0]["evidence"]["population"],
        ):
            population["transition"] = PERSISTENT

    def gappy(data: Any) -> None:
        for population in (
            data["population"],
            data["derivation"]["premises"][0]["evidence"]["population"],
        ):
            del population["complete"]

    def longer(data: Any) -> None:
        for population in (
            data["population"],
            data["derivation"]["premises"][0]["evidence"]["population"],
        ):
            population["length"] = 80

    def query(data: Any) -> Any:
        return data["derivation"]["premises"][0]["premises"][0]["premises"][0]

    def part(data: Any) -> None:
        query(data)["evidence"]["query"]["where"] = "s == 1 and g == 'a'"

    def plain(data: Any) -> None:
        del query(data)["evidence"]["query"]["tightness"]

    def another(data: Any) -> None:
        spend = query(data)["evidence"]["spend"]
        data["data_set"]["earlier_spends"] = [{**spend, "mechanism": "discrete-laplace"}]

    def alone(data: Any) -> None:
        # A conversion alone would speak of every mechanism of this cost.
        top = data["derivation"]["premises"][0]
        data["derivation"] = top
        data["claim"]["secrets"] = top["evidence"]["secrets"]

    for change in (persistent, gappy, longer, part, plain, another, alone):
        assert tampered(done, change) in ("INVALID", "UNKNOWN"), change.__name__
