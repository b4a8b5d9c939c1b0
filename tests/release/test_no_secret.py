"""A population without any secret says nothing about the independent columns of a record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from bayesdp import kernel
from bayesdp.certificate import content_of, digest
from bayesdp.errors import BudgetExceededError
from bayesdp.kernel import check
from bayesdp.release import Study
from bayesdp.release.certificates import derivation

PAIRS = {"pair": {"role": "cluster"}}
DAYS = {"day": {"role": "order", "step": 1}}
POPULATIONS: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"model": "finite", "probabilities": [[1.0, 0.0], [0.0, 0.0]]}, PAIRS, "any"),
    ({"model": "finite", "probabilities": [[0.5, 0.0], [0.0, 0.5]]}, PAIRS, "informed"),
    (
        {
            "model": "markov",
            "transition": [[1.0, 0.0], [1.0, 0.0]],
            "initial": [1.0, 0.0],
            "length": 4,
        },
        DAYS,
        "any",
    ),
    ({"model": "graph", "records": 4, "grid": [1, 4], "table": [[1, 0], [0, 0]]}, {}, "any"),
]


def study(
    folder: Path, spec: dict[str, Any], roles: dict[str, Any], adversary: str, **budget: float
) -> Study:
    table = pd.DataFrame({"pair": [1, 1, 2, 2], "day": [1, 2, 3, 4], "ill": 0, "y": [0, 1, 1, 0]})
    return Study(
        table,
        dataset="pairs",
        n=4,
        columns={
            **roles,
            "ill": {"states": [0, 1]},
            "y": {"states": [0, 1], "independent": True},
        },
        population={**spec, "covers": ["ill"], "source": "made up"},
        budget={"notion": "bdp", "epsilon": 1.0, "adversary": adversary} | budget,
        queries=[{"name": "sick", "kind": "count", "where": "y == 1"}],
        ledger=str(folder / "ledger.db"),
    )


@pytest.mark.parametrize(("spec", "roles", "adversary"), POPULATIONS)
def test_a_count_of_an_independent_column_costs_its_dp_level(
    spec: dict[str, Any], roles: dict[str, Any], adversary: str, tmp_path: Path
) -> None:
    made = study(tmp_path, spec, roles, adversary)
    shown = made.check().plan
    release = made.release()
    body = release.certificate.body
    assert 0.0 < shown.dp_epsilon <= shown.level == body["claim"]["epsilon"]
    assert made.ledger().show()[0]["readings"][0]["level"] >= shown.dp_epsilon
    assert_zero_is_refused(json.loads(release.certificate.to_json()))


def assert_zero_is_refused(document: dict[str, Any]) -> None:
    assert check(document)
    document["claim"]["epsilon"] = document["data_set"]["level"] = 0.0
    document["derivation"]["conclusion"]["epsilon"] = 0.0
    for premise in document["derivation"]["premises"]:
        premise["conclusion"]["epsilon"] = 0.0
    verdict = check(document | {"digest": digest(content_of(document))})
    assert not verdict
    assert "0.0 is claimed" in str(verdict.reason)


@pytest.mark.parametrize(("spec", "roles", "adversary"), POPULATIONS)
def test_so_it_does_with_a_delta(
    spec: dict[str, Any], roles: dict[str, Any], adversary: str, tmp_path: Path
) -> None:
    made = study(tmp_path, spec, roles, adversary, delta=1e-6)
    plan = made.check().plan
    assert plan.level > 0.0
    release = made.release()
    assert release.certificate.body["claim"]["epsilon"] == plan.level
    assert_zero_is_refused(json.loads(release.certificate.to_json()))


NO_SECRET_BUT_ONE_MEMBER = {
    "model": "family",
    "members": [
        {"model": "finite", "probabilities": [[1.0, 0.0], [0.0, 0.0]]},
        {"model": "finite", "probabilities": [[0.25, 0.25], [0.25, 0.25]]},
    ],
}


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("spec", [POPULATIONS[0][0], NO_SECRET_BUT_ONE_MEMBER])
def test_releases_fill_the_ledger_and_each_certificate_holds(
    spec: dict[str, Any], delta: float, tmp_path: Path
) -> None:
    """Pure costs are never claimed at what they would cost as zCDP, without its proof."""
    made = study(tmp_path, spec, PAIRS, "any", epsilon=5.0, spend=1.1, delta=delta)
    for count in range(1, 5):
        document = json.loads(made.release(again=True).certificate.to_json())
        assert check(document), document["data_set"]
        (reading,) = made.ledger().show()[0]["readings"]
        assert reading["level"] == pytest.approx(1.1 * count)
        assert document["data_set"]["level"] == pytest.approx(1.1 * count)
    with pytest.raises(BudgetExceededError):
        made.release(again=True)


def test_a_member_without_secrets_has_the_independent_columns_of_its_family(
    tmp_path: Path,
) -> None:
    made = study(tmp_path, NO_SECRET_BUT_ONE_MEMBER, PAIRS, "any", epsilon=2.0)
    document = json.loads(made.release().certificate.to_json())
    conversion = document["derivation"]["premises"][0]
    member = next(
        step
        for step in conversion["premises"]
        if step["evidence"].get("population", {}).get("probabilities") == [[1.0, 0.0], [0.0, 0.0]]
    )
    assert member["conclusion"]["epsilon"] > 0.0
    member["evidence"]["independent"] = []
    member["conclusion"]["epsilon"] = 0.0
    assert not check(document | {"digest": digest(content_of(document))})


def test_nothing_is_spent_where_no_certificate_could_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ledger's level may rest on a theorem of which the kernel proves less."""
    made = study(tmp_path, *POPULATIONS[0], epsilon=3.0, spend=1.1)
    made.release()
    proved = kernel.certified_level

    def half_as_good(step: dict[str, Any]) -> float:
        level = proved(step)
        return level if level < 2.0 else 2.0 * level

    monkeypatch.setattr(kernel, "certified_level", half_as_good)
    derivation._certified.cache_clear()
    with pytest.raises(BudgetExceededError, match="no certificate can claim it"):
        made.release(again=True)
    derivation._certified.cache_clear()
    assert len(made.ledger().spends("pairs")) == 1
    (refused,) = made.ledger().refusals()
    assert refused["reason"] == "budget"


def test_others_may_spend_between_the_look_and_the_proof(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then the ledger says so, in its own words."""
    made = study(tmp_path, *POPULATIONS[0], epsilon=2.0, spend=1.5)
    other = study(tmp_path, *POPULATIONS[0], epsilon=2.0, spend=1.5)
    look = Study._exact

    def looked(self: Study, *arguments: Any) -> Any:
        exact = look(self, *arguments)
        if self is made:
            other.release()
        return exact

    monkeypatch.setattr(Study, "_exact", looked)
    with pytest.raises(BudgetExceededError, match="Nothing was released and nothing was spent"):
        made.release()
    (data_set,) = made.ledger().show()
    assert len(data_set["releases"]) == 1
