"""Programs as queries of a study: price, agreement with the study, release, certificate."""

from __future__ import annotations

import copy
import json
import os
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from bayesdp import kernel
from bayesdp.cli import app
from bayesdp.errors import (
    BudgetExceededError,
    InputError,
    Refusal,
    TableMismatchError,
    UnsupportedError,
)
from bayesdp.kernel.program_queries import program_query
from bayesdp.programs.certificate import derivation_of
from bayesdp.programs.source import core_of, read_text
from bayesdp.programs.verdicts import verdict_in
from bayesdp.release import Study
from bayesdp.release.certify import provable_plan
from bayesdp.release.plan import make_plan
from bayesdp.release.program_files import ProgramRefusedError
from bayesdp.report.explain import explain
from bayesdp.report.html import render
from bayesdp.report.plain import check_document
from bayesdp.report.sections import study_section
from tests.kernel.mutations import sealed
from tests.release.program_studies import COLUMNS, HEAD, PEOPLE, POPULATION, TABLE, asks, study
from tests.release.test_processes import run as run_jobs

ROOT = Path(__file__).parents[2]


def changed(**columns: Any) -> dict[str, Any]:
    return {name: one for name, one in (COLUMNS | columns).items() if one is not None}


# -- price -----------------------------------------------------------------------------------


def test_the_programs_have_their_own_cost_and_the_others_share_the_rest(tmp_path: Path) -> None:
    counts = [
        {"name": "tall", "kind": "count", "where": "height > 175"},
        {"name": "smoke", "kind": "count", "where": "smokes == True", "weight": 3},
    ]
    made = study(tmp_path, counts[0], asks("smokers"), counts[1], asks("height"))
    plan = make_plan(made.spec)
    assert [one.dp_epsilon for one in plan.programs] == [0.25, 0.5]
    shares = [one.dp_epsilon for one in plan.queries]
    assert shares[1] == pytest.approx(3 * shares[0])
    # Clusters of two: the level is twice the sum, and all of the budget is used.
    assert sum(shares) + 0.75 == pytest.approx(2.0, rel=1e-6)
    assert 3.99 < plan.level <= 4.0
    assert {one.query for one in plan.spends} == {"tall", "smoke", "smokers", "height"}


def test_programs_that_cost_more_than_the_study_may_spend_are_refused(tmp_path: Path) -> None:
    made = study(tmp_path, asks("height"), budget={"epsilon": 0.9})
    # Twice a half, in doubles rounded outward: the level that is said does fit.
    with pytest.raises(BudgetExceededError, match=r"The programs alone reach the level 1\.0+1, "):
        made.check()
    count = {"name": "tall", "kind": "count", "where": "height > 175"}
    made = study(
        tmp_path, asks("height"), count, budget={"notion": "dp", "epsilon": 0.5}, population=None
    )
    with pytest.raises(BudgetExceededError, match="The programs use up the study's budget"):
        made.check()
    assert not (tmp_path / "ledger.db").exists()


def test_a_whole_budget_may_be_a_programs(tmp_path: Path) -> None:
    for budget in ({"epsilon": 1.00001}, {"notion": "dp", "epsilon": 0.5}):
        folder = tmp_path / str(budget["epsilon"])
        folder.mkdir()
        people = POPULATION if "notion" not in budget else None
        done = study(folder, asks("height"), budget=budget, population=people).release()
        assert done.level == pytest.approx(budget["epsilon"], rel=2e-5)
        with pytest.raises(BudgetExceededError):
            study(folder, asks("height"), budget=budget, population=people).release()


def test_the_kind_counts_where_the_table_is_read_as_it_stands(tmp_path: Path) -> None:
    def spend(**columns: Any) -> Any:
        law = {"model": "gaussian", "size": 2, "max_correlation": 0.3, "covers": ["height"]}
        made = study(
            tmp_path, asks("height"), columns=changed(smokes=None, **columns), population=law
        )
        plan = provable_plan(made.spec)
        return plan.spends[0], plan.level

    lipschitz, level = spend()
    assert (lipschitz.kind, lipschitz.column, lipschitz.interval) == (
        "lipschitz",
        "height",
        (150.0, 190.0),
    )
    assert 0 < lipschitz.slack < 1e-7
    assert level == pytest.approx(0.65, rel=1e-6)
    # The program clips more than the study does: another record may move by its whole width.
    wide, level = spend(height={"bounds": [140, 200]})
    assert wide.kind == "lipschitz"
    assert level == pytest.approx(1.0, rel=1e-6)
    narrow, level = spend(height={"bounds": [155, 180]})
    assert narrow.interval == (150.0, 190.0)
    assert level == pytest.approx(0.65, rel=1e-6)
    imputed, level = spend(height={"bounds": [150, 190], "missing": {"impute": 170}})
    assert imputed.kind == "any"
    assert level == pytest.approx(1.0, rel=1e-6)


def test_constants_are_sharper_where_n_is_stated(tmp_path: Path) -> None:
    text = """@program
def coin(obs: Database[Bool]) -> Private[Int]:
    require(obs.size >= 2)
    return laplace(sum(1 if x else 0 for x in obs), epsilon=1)
"""
    query = {
        "name": "c",
        "kind": "program",
        "program": "people.py:coin",
        "columns": {"obs": "smokes"},
    }
    (program,) = make_plan(study(tmp_path, query, text=text).spec).programs
    assert program.verdict.n == 8
    assert dict(program.fields) == {"": "smokes"}
    (program,) = make_plan(study(tmp_path, query, text=text, n="from data").spec).programs
    assert program.verdict.n is None
    done = study(tmp_path, query, text=text, n="from data").release()
    assert done.certificate.body["n"] == 8
    assert any("has exactly 8 records" in one for one in done.certificate.body["assumptions"])
    with pytest.raises(ProgramRefusedError, match=r"never true|precondition"):
        study(tmp_path, query, text=text.replace(">= 2", ">= 9")).check()


# -- release -----------------------------------------------------------------------------------


def test_a_release_with_programs_end_to_end(tmp_path: Path) -> None:
    count = {"name": "tall", "kind": "count", "where": "height > 175"}
    made = study(tmp_path, asks("smokers"), count, asks("height"), asks("northern"))
    done = made.release()
    assert [one.query for one in done] == ["tall", "smokers", "height", "northern"]
    answer = done["smokers"]
    low, high = answer.interval(0.9)
    assert 0 < low < answer.mean < high < 1
    assert answer.value.family == "beta"
    assert answer.samples(5).shape == (5,)
    assert answer.figure().startswith("<svg")
    assert isinstance(done["northern"].value, int)
    with pytest.raises(UnsupportedError, match="interval"):
        answer.error(0.95)
    with pytest.raises(UnsupportedError, match="one distribution"):
        _ = done["northern"].mean
    verdict = kernel.check(json.loads(done.certificate.to_json()))
    assert verdict.verdict == "VALID ASSUMING", verdict
    assert any("of the program 'smokers': the program's text" in one for one in verdict.assuming)
    shown = made.ledger().show()[0]
    (release,) = shown["releases"]
    assert release["status"] == "released"
    assert {one["query"]: one["reads"] for one in release["spends"]} == {
        "tall": ["height"],
        "smokers": ["smokes"],
        "height": ["height"],
        "northern": ["smokes"],
    }
    assert {one["mechanism"] for one in release["spends"]} == {"discrete-laplace", "program"}
    json.dumps(done.to_dict(), allow_nan=False)
    again = made.release  # a second one is refused: all of the budget is spent
    with pytest.raises(BudgetExceededError):
        again()


def test_the_noise_is_what_the_cost_says(tmp_path: Path) -> None:
    """A sum of eight heights with noise of scale 40 / 0.5: its released value spreads so."""
    made = study(tmp_path, asks("height"), budget={"epsilon": 1000.0})
    values = [made.release()["height"].releases["laplace_1"] for _ in range(60)]
    exact = sum(min(max(one, 150), 190) for one in TABLE["height"])
    spread = np.mean([abs(one - exact) for one in values])
    assert 0.5 * 80 < spread < 2 * 80


def test_gaussian_and_laplace_releases_are_two_spends(tmp_path: Path) -> None:
    made = study(
        tmp_path,
        asks("both", parameters={"level": 0.75}),
        asks("smokers"),
        {"name": "tall", "kind": "count", "where": "height > 175", "weight": 1},
        budget={"epsilon": 8.0, "delta": 1e-5, "noise": "laplace"},
    )
    plan = make_plan(made.spec)
    pure, rho = (one for one in plan.spends if one.query == "both")
    assert (pure.dp_epsilon, pure.rho, pure.kind) == (0.25, 0.0, "any")
    assert rho.dp_epsilon == 0.0
    # (0.75, 1e-7) by the conversion of rho, the best of whole curves: pinned from both sides.
    assert 0.008 < rho.rho < 0.75**2 / 2
    done = made.release()
    assert kernel.check(json.loads(done.certificate.to_json())).verdict == "VALID ASSUMING"
    assert any("has a variance of at least" in one for one in done.certificate.body["assumptions"])
    assert done.dp_rho == rho.rho
    with pytest.raises(Refusal, match="State a delta"):
        study(tmp_path, asks("both"), budget={"epsilon": 8.0}).check()


def test_a_private_table_that_does_not_fit_is_refused_with_nothing_spent(tmp_path: Path) -> None:
    text = PEOPLE.replace("height: Real[100, 230]", "height: Int[100, 230]")
    made = study(tmp_path, asks("height"), text=text)
    with pytest.raises(TableMismatchError, match="as the study declares it"):
        made.release()  # 171.5 is no whole number
    assert made.ledger().show() == []
    assert len(made.ledger().refusals()) == 1
    (finding,) = made.inspect()
    assert finding.message.startswith("Program 'height'")
    assert study(tmp_path, asks("height")).inspect() == []
    nothing = TABLE | {"height": [171.5, 160.0, 182.25, float("nan"), 168.0, 175.5, 190.0, 166.0]}
    with pytest.raises(TableMismatchError):
        study(tmp_path, asks("smokers"), table=nothing).release()


def test_public_columns_of_which_nothing_is_declared_are_held_against_the_program(
    tmp_path: Path,
) -> None:
    columns = changed(region={"public": True})
    study(tmp_path, asks("northern"), columns=columns).release()
    other = TABLE | {"region": ["north", "west"] * 4}
    with pytest.raises(TableMismatchError):
        study(tmp_path, asks("northern"), columns=columns, table=other).release()


def test_preconditions_on_the_number_of_records_cost_nothing(tmp_path: Path) -> None:
    text = PEOPLE.replace(
        "    model = observe((p", "    require(people.size > 8)\n    model = observe((p"
    )
    made = study(tmp_path, asks("smokers"), text=text, n="from data")
    made.check()  # for every number of records that is admitted
    with pytest.raises((InputError, Refusal)):
        made.release()
    assert not (tmp_path / "ledger.db").exists()


def test_noisy_answers_and_vectors_are_plain_data(tmp_path: Path) -> None:
    text = """@record
class Person:
    smokes: Bool


@program
def answers(people: Database[Person]) -> Private[tuple[Vector, Beta]]:
    cells = laplace(sum(onehot(p.smokes, 2) for p in people), epsilon=1 / 4)
    noisy = randomized_response((p.smokes for p in people), epsilon=1 / 4)
    return cells, noise_aware(observe(noisy, bernoulli, prior=beta(1, 1)))
"""
    done = study(tmp_path, asks("answers"), text=text).release()
    assert len(done["answers"].outputs[0]) == 2
    document = json.loads(json.dumps(done.to_dict(), allow_nan=False))
    assert set(document["results"][0]["releases"]) == {"laplace_1", "randomized_response_2"}
    assert kernel.check(document["certificate"]).verdict == "VALID ASSUMING"
    assert "answers, 1: (" in str(done)


def test_pieces_of_a_public_column(tmp_path: Path) -> None:
    text = (
        PEOPLE
        + """

@program(epsilon=0.5)
def by_region(people: Database[Person]) -> Private[tuple[Int, Int]]:
    north, south = 0, 0
    for region, here in partition(people, by="region"):
        found = laplace(sum(1 if p.smokes else 0 for p in here), epsilon=1 / 2)
        if region == "north":
            north = found
        else:
            south = found
    return north, south
"""
    )
    made = study(tmp_path, asks("by_region"), text=text)
    (program,) = make_plan(made.spec).programs
    assert dict(program.fields) == {"smokes": "smokes", "region": "region"}
    assert (program.reads, program.dp_epsilon) == (("smokes",), 0.5)
    done = made.release()
    assert len(done["by_region"].releases) == 2
    assert kernel.check(json.loads(done.certificate.to_json())).verdict == "VALID ASSUMING"


# -- agreement -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "more", "key", "said"),
    [
        ({"program": "nothing.py:x"}, {}, "query[0].program", "can be read"),
        ({"program": "people.py:smoker"}, {}, "query[0].program", "Did you mean 'smokers'?"),
        ({"program": "people.py"}, {}, "query[0].program", "a name: one of"),
        ({"program": None}, {}, "query[0].program", "file.py:name"),
        ({"weight": 2.0}, {}, "query[0].weight", "whose cost is what its text says"),
        ({"error": 2.0}, {}, "query[0].error", "whose cost is what its text says"),
        ({"where": "smokes == True"}, {}, "query[0].where", "says itself what it reads"),
        ({"by": "region"}, {}, "query[0].by", "says itself what it reads"),
        ({"tightness": "mechanism"}, {}, "query[0].tightness", "dp"),
        ({"columns": {"smoke": "smokes"}}, {}, "query[0].columns.smoke", "Did you mean 'smokes'?"),
        ({"columns": {"smokes": "smoker"}}, {}, "query[0].columns.smokes", "Did you mean"),
        ({"columns": {"smokes": "height"}}, {}, "query[0].columns.smokes", "for a Bool"),
        ({"columns": {"smokes": "region"}}, {}, "query[0].columns.smokes", "for a Bool"),
        ({"parameters": {"level": [1]}}, {}, "query[0].parameters", ""),
        ({"columns": {"smokes": 3}}, {}, "query[0].columns", ""),
        (
            {},
            {"columns": changed(who={"public": True}), "unit": "who", "rows_per_unit": 2},
            "data.unit",
            "one row for each record",
        ),
        (
            {"program": "people.py:northern"},
            {"columns": changed(region={"states": ["north", "south"], "independent": True})},
            "query[0].columns.region",
            "takes 'region' for Public[...]",
        ),
        (
            {"program": "people.py:northern"},
            {"columns": changed(region={"public": True, "states": ["north", "south", "west"]})},
            "data.columns.region.states",
            "one of the program's labels",
        ),
        (
            {"program": "people.py:height"},
            {"columns": changed(height={"bounds": [10, 20]})},
            "query[0].columns.height",
            "bounds that meet the program's own",
        ),
        (
            {"program": "people.py:height"},
            {"columns": changed(height={"states": ["small", "tall"]})},
            "query[0].columns.height",
            "a column of numbers",
        ),
        (
            {},
            {"population": POPULATION | {"covers": ["height"]}},
            "query[0].program",
            "what the population speaks about",
        ),
    ],
)
def test_what_does_not_agree_is_refused(
    tmp_path: Path, query: dict[str, Any], more: dict[str, Any], key: str, said: str
) -> None:
    asked = {k: v for k, v in (asks("smokers") | query).items() if v is not None}
    with pytest.raises(InputError) as refused:
        study(tmp_path, asked, **more).check()
    assert str(refused.value).startswith(key), refused.value
    assert said in str(refused.value)
    assert not (tmp_path / "ledger.db").exists()


def test_a_program_with_another_adjacency_is_refused(tmp_path: Path) -> None:
    text = """@record
class Person:
    smokes: Bool


@program(adjacency="add-remove")
def smokers(people: Database[Person]) -> Private[Int]:
    return laplace(sum(1 if p.smokes else 0 for p in people), epsilon=1)
"""
    with pytest.raises(UnsupportedError, match="replace-one"):
        study(tmp_path, asks("smokers"), text=text).check()


def test_keys_of_programs_belong_to_programs(tmp_path: Path) -> None:
    for key, value in (
        ("program", "x.py"),
        ("parameters", {"a": 1}),
        ("columns", {"a": "b"}),
    ):
        query = {"name": "c", "kind": "count", "where": "smokes == True", key: value}
        with pytest.raises(InputError, match=f"query\\[0\\].{key}"):
            Study(
                dataset="x",
                n=8,
                columns=COLUMNS,
                population=POPULATION,
                budget={"epsilon": 1.0},
                queries=[query],
            )


def test_which_bounds_count_is_said(tmp_path: Path) -> None:
    made = study(tmp_path, asks("height"))
    (program,) = make_plan(made.spec).programs
    assert program.notes == (
        "'height' is clipped to the study's 150 to 190, then to the program's 100 to 230: "
        "the study's count",
    )
    wide = changed(height={"bounds": [90, 200]})
    (program,) = make_plan(study(tmp_path, asks("height"), columns=wide).spec).programs
    assert program.notes[0].endswith("both together count")


def test_a_program_that_changed_after_the_check_is_not_released(tmp_path: Path) -> None:
    made = study(tmp_path, asks("smokers"))
    made.check()
    (tmp_path / "people.py").write_text(HEAD + PEOPLE.replace("1 / 4", "1 / 5"), encoding="utf-8")
    with pytest.raises(InputError, match="has changed since"):
        made.release()
    with pytest.raises(InputError, match="has changed since"):
        made.check()
    (tmp_path / "people.py").unlink()
    with pytest.raises(InputError, match="can be read"):
        made.release()
    assert not (tmp_path / "ledger.db").exists()


def test_fields_may_have_other_names_in_the_table(tmp_path: Path) -> None:
    renamed = {"smokes" if name != "smokes" else "cigarettes": one for name, one in TABLE.items()}
    del renamed["smokes"]
    renamed |= {"height": TABLE["height"], "region": TABLE["region"], "home": TABLE["home"]}
    columns = changed(smokes=None) | {"cigarettes": COLUMNS["smokes"]}
    made = study(
        tmp_path,
        asks("smokers", columns={"smokes": "cigarettes"}),
        columns=columns,
        table=renamed,
        population=POPULATION | {"covers": ["height", "cigarettes"]},
    )
    done = made.release()
    assert done.certificate.derivation.premises[0].premises[0].premises[0].evidence["fields"] == {
        "smokes": "cigarettes"
    }
    assert make_plan(made.spec).spends[0].reads == ("cigarettes",)


# -- the certificate -------------------------------------------------------------------------------


def step_of(document: dict[str, Any]) -> dict[str, Any]:
    composition = document["derivation"]["premises"][0]["premises"][0]
    step: dict[str, Any] = composition["premises"][-1]
    return step


def cheaper(document: dict[str, Any]) -> None:
    for one in (step_of(document)["evidence"]["spends"][0], step_of(document)["conclusion"]):
        one["dp_epsilon" if "dp_epsilon" in one else "epsilon"] *= 0.999


def of_program(document: dict[str, Any]) -> dict[str, Any]:
    inside: dict[str, Any] = step_of(document)["premises"][0]["evidence"]
    return inside


def wider(document: dict[str, Any]) -> None:
    """The program clips less than its noise is for."""
    text = json.dumps(of_program(document)["program"])
    assert '"190"' in text
    of_program(document)["program"] = json.loads(text.replace('"190"', '"210"'))


LIES: dict[str, Any] = {
    "a lower cost": cheaper,
    "a wider clip": wider,
    "another column": lambda d: step_of(d)["evidence"]["fields"].update(height="smokes"),
    "a column that is not read": lambda d: step_of(d)["evidence"]["fields"].update(smokes="smokes"),
    "no column": lambda d: step_of(d)["evidence"]["fields"].clear(),
    "reads nothing": lambda d: step_of(d)["evidence"]["spends"][0].update(reads=[]),
    "another data set": lambda d: step_of(d)["evidence"]["spends"][0].update(dataset="other"),
    "a block": lambda d: step_of(d)["evidence"]["spends"][0].update(
        block={"column": "region", "values": ["north"]}
    ),
    "another mechanism": lambda d: step_of(d)["evidence"]["spends"][0].update(
        mechanism="discrete-laplace"
    ),
    "a narrower interval": lambda d: step_of(d)["evidence"]["spends"][0].update(
        interval=[155.0, 190.0]
    ),
    "no slack": lambda d: step_of(d)["evidence"]["spends"][0].update(slack=0.0),
    "another n": lambda d: of_program(d).update(n=9),
    "for every n, with assumptions for one": lambda d: of_program(d).update(n=None),
    "another adjacency": lambda d: of_program(d)["program"].update(adjacency="add-remove"),
    "another text": lambda d: of_program(d)["program"].update(source="sha256:00"),
    "a text that is told differently": lambda d: d["programs"][0].update(source="sha256:00"),
    "no word of the program": lambda d: d.pop("programs"),
    "a sentence less": lambda d: d["programs"][0]["assuming"].pop(),
    "a result's lower cost": lambda d: d["results"][-1].update(dp_epsilon=0.4),
    "a result less": lambda d: d["results"].pop(),
    "another query's result": lambda d: d["results"][-1].update(query="tall"),
    "a key that means nothing": lambda d: d["results"][-1].update(private=True),
    "two derivations": lambda d: step_of(d)["premises"].append(step_of(d)["premises"][0]),
    "height is public": lambda d: of_program(d)["program"]["record"][0][1].update(public=True),
}


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("released")
    law = {"model": "gaussian", "size": 2, "max_correlation": 0.3, "covers": ["height"]}
    count = {"name": "tall", "kind": "count", "where": "height > 175"}
    columns = changed(smokes=None)
    done = study(folder, count, asks("height"), columns=columns, population=law).release()
    document: dict[str, Any] = json.loads(done.certificate.to_json())
    assert kernel.check(document).verdict == "VALID ASSUMING"
    assert step_of(document)["conclusion"]["kind"] == "lipschitz"
    return document


@pytest.mark.parametrize("lie", LIES)
def test_a_certificate_that_says_more_is_invalid(released: dict[str, Any], lie: str) -> None:
    document = copy.deepcopy(released)
    LIES[lie](document)
    assert kernel.check(sealed(document)).verdict == "INVALID"


def spend_of(step: dict[str, Any]) -> dict[str, Any]:
    spend: dict[str, Any] = step["evidence"]["spends"][0]
    return spend


SHARP: dict[str, tuple[Any, str]] = {
    "a cost": (lambda s, b: spend_of(s).update(dp_epsilon=0.4999), "0.4999 is claimed"),
    "a conclusion": (lambda s, b: s["conclusion"].update(epsilon=0.4999), "is claimed"),
    "n": (lambda s, b: b.update(n=9), "another number of records"),
    "the unit": (lambda s, b: b.update(unit="home"), "one row"),
    "a field that is not read": (
        lambda s, b: s["evidence"]["fields"].update(unread="region"),
        "not those that are read",
    ),
    "no such column": (
        lambda s, b: s["evidence"]["fields"].update(height="width"),
        "is not declared",
    ),
    "reads": (lambda s, b: spend_of(s).update(reads=["region"]), "reads"),
    "a public column": (
        lambda s, b: b["columns"].update(height={"bounds": [150, 190], "public": True}),
        "nothing that is protected",
    ),
    "the interval": (lambda s, b: spend_of(s).update(interval=[155.0, 190.0]), "interval"),
    "the column": (lambda s, b: spend_of(s).update(column="region"), "another column"),
    "slack": (lambda s, b: spend_of(s).update(slack=spend_of(s)["slack"] * 0.99), "is claimed"),
    "an imputed column": (
        lambda s, b: b["columns"]["height"].update(missing={"impute": 170}),
        "another column",
    ),
    "a derived column": (
        lambda s, b: b["columns"].update({"height": {"from": "x", "where": "x > 3"}}),
        "reads",
    ),
    "kind any with a column": (
        lambda s, b: (spend_of(s).update(kind="any"), s["conclusion"].update(kind="any")),
        "kind any",
    ),
    "zCDP beside it": (lambda s, b: spend_of(s).update(rho=1e-9), "beside another"),
    "a second spend": (
        lambda s, b: s["evidence"]["spends"].append(copy.deepcopy(spend_of(s))),
        "one spend for each cost",
    ),
    "a conclusion in zCDP": (lambda s, b: s["conclusion"].update(rho=0.0), "more or less"),
    "a Gaussian release that isn't": (
        lambda s, b: s["evidence"].update(gaussian={"laplace_1": "0"}),
        "another release",
    ),
    "a lower claim": (
        lambda s, b: s["premises"][0]["conclusion"]["exact"].update(epsilon="49/100"),
        "is claimed",
    ),
    "no derivation": (lambda s, b: s["premises"].clear(), "not one derivation"),
}


@pytest.mark.parametrize("change", SHARP)
def test_each_check_of_a_programs_step_bites(released: dict[str, Any], change: str) -> None:
    """Called alone: in a whole certificate another check may be first."""
    document = copy.deepcopy(released)
    step = step_of(document)
    program_query(step, document, ["height"], [])
    SHARP[change][0](step, document)
    with pytest.raises(kernel.InvalidError, match=SHARP[change][1]):
        program_query(step, document, ["height"], [])


def test_what_the_program_takes_for_public_is_public_in_the_study(tmp_path: Path) -> None:
    done = study(tmp_path, asks("northern")).release()
    document = json.loads(done.certificate.to_json())
    step = step_of(document)
    assert step["evidence"]["fields"] == {"region": "region", "smokes": "smokes"}
    program_query(step, document, ["height", "smokes"], [])
    document["columns"]["region"] = {"states": ["north", "south"]}
    with pytest.raises(kernel.InvalidError, match="is protected, not public"):
        program_query(step, document, ["height", "region", "smokes"], [])


def test_the_ledgers_costs_are_for_replacing_a_record(tmp_path: Path) -> None:
    """An add-remove program has an honest derivation, which is no cost of a study."""
    text = """@record
class Person:
    smokes: Bool


@program(adjacency="add-remove")
def smokers(people: Database[Person]) -> Private[Int]:
    return laplace(sum(1 if p.smokes else 0 for p in people), epsilon=1 / 4)
"""
    done = study(tmp_path, asks("smokers"), text=text.replace("add-remove", "replace-one"))
    document = json.loads(done.release().certificate.to_json())
    source = read_text(HEAD + text, "people.py")
    verdict = verdict_in(source, "smokers")
    assert verdict.verdict == "ACCEPTED"
    step = step_of(document)
    step["premises"] = [derivation_of(core_of(source, "smokers", {}), verdict).to_dict()]
    with pytest.raises(kernel.InvalidError, match="another adjacency"):
        program_query(json.loads(json.dumps(step)), document, ["height", "smokes"], [])


def test_gaussian_costs_can_not_be_understated(tmp_path: Path) -> None:
    budget = {"epsilon": 8.0, "delta": 1e-5}
    done = study(tmp_path, asks("both"), budget=budget).release()
    honest = json.loads(done.certificate.to_json())
    assert kernel.check(honest).verdict == "VALID ASSUMING"
    lies: list[Any] = [
        lambda s: s["evidence"]["spends"][1].update(rho=s["evidence"]["spends"][1]["rho"] * 0.999),
        lambda s: s["evidence"]["spends"].pop(),
        lambda s: s["evidence"]["spends"].pop(0),
        lambda s: s["evidence"].pop("gaussian"),
        lambda s: s["evidence"]["gaussian"].update(gaussian_1="1/100000"),
        lambda s: s["evidence"]["gaussian"].update(laplace_1="0"),
        lambda s: s["conclusion"].update(rho=0.0),
        lambda s: s["evidence"]["spends"][0].update(dp_delta=1e-7),
    ]
    for lie in lies:
        document = copy.deepcopy(honest)
        lie(step_of(document))
        assert kernel.check(sealed(document)).verdict == "INVALID"


# -- what people read ------------------------------------------------------------------------------


def test_check_and_report_tell_of_programs(tmp_path: Path) -> None:
    made = study(tmp_path, asks("smokers"), asks("both"), budget={"epsilon": 8.0, "delta": 1e-5})
    check = made.check()
    first, second = check_document(check)["programs"]
    assert first["verdict"] == "ACCEPTED"
    assert Fraction(first["exact_epsilon"]) == Fraction(1, 4)
    assert first["columns"] == {"smokes": "smokes"}
    assert second["dp_rho"] > 0
    assert "smokers: people.py:smokers, DP cost 0.25, kind any" in str(check)
    explained = explain(made)
    assert explained.holds
    assert "people.py:smokers" in explained.text()
    done = made.release()
    section = study_section(made, done, "")
    page = render([section])
    assert "Returned by programs" in page
    assert "http" not in page
    assert page.count("<svg") >= 2
    assert "people.py:smokers" in explain(done).text()


def test_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "people.py").write_text(HEAD + PEOPLE, encoding="utf-8")
    rows = ["height,smokes"] + [
        f"{a},{b}".lower() for a, b in zip(TABLE["height"], TABLE["smokes"], strict=True)
    ]
    (tmp_path / "people.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    text = """[data]
source = "people.csv"
dataset = "people"
n = 8
[data.columns]
height = { bounds = [150, 190], unit = "cm" }
smokes = { states = [false, true] }
[population]
model = "independent"
covers = ["height", "smokes"]
[budget]
epsilon = 1.0
[[query]]
name = "how many smoke"
kind = "program"
program = "people.py:smokers"
"""
    path = tmp_path / "study.toml"
    path.write_text(text, encoding="utf-8")
    runner = CliRunner()
    done = runner.invoke(app, ["check", str(path)], env={"COLUMNS": "120"})
    assert done.exit_code == 0, done.output
    assert "people.py:smokers" in done.output
    assert "ACCEPTED" in done.output
    report = tmp_path / "report.html"
    done = runner.invoke(app, ["release", str(path), "--json", "--report", str(report)])
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert document["results"][0]["outputs"][0]["family"] == "beta"
    assert "how many smoke" in report.read_text(encoding="utf-8")
    (tmp_path / "people.py").write_text(
        HEAD + PEOPLE.replace("return noise_aware(laplace(statistics(model), epsilon=1 / 4))",
                              "return statistics(model)"),
        encoding="utf-8",
    )  # fmt: skip
    done = runner.invoke(app, ["check", str(path)])
    assert done.exit_code == 1, done.output
    assert "query[0].program: REJECTED" in done.stderr
    assert "people.py:" in done.stderr
    assert "^" in done.stderr


# -- deaths ----------------------------------------------------------------------------------------


def test_a_death_between_debit_and_result_loses_budget_and_shows_nothing(tmp_path: Path) -> None:
    study(tmp_path, asks("smokers"))
    rows = ["smokes"] + [str(one).lower() for one in TABLE["smokes"]]
    (tmp_path / "people.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (tmp_path / "s.toml").write_text(
        '[data]\nsource = "people.csv"\ndataset = "people"\nn = 8\n'
        "columns.smokes = { states = [false, true] }\n"
        '[budget]\nnotion = "dp"\nepsilon = 1.0\n'
        '[[query]]\nname = "q"\nkind = "program"\nprogram = "people.py:smokers"\n',
        encoding="utf-8",
    )
    job = {"folder": str(tmp_path), "study": "s.toml"}
    (dead,) = run_jobs([job | {"point": "before the program"}])
    assert dead["status"] == 137
    assert (tmp_path / "s.toml.out").read_text() == ""
    shown = Study.load(tmp_path / "s.toml").ledger().show()[0]
    assert [one["status"] for one in shown["releases"]] == ["debited"]
    assert shown["spent"] == 0.25


# -- real data -------------------------------------------------------------------------------------


def real(name: str) -> Path:
    given = os.environ.get("BAYESDP_SHARED")
    folder = Path(given) / "data" if given else ROOT.parent / "shared" / "data"
    path = (folder if folder.is_dir() else Path(given or "")) / name
    if not path.is_file():
        pytest.skip(f"{name} is looked for in ../shared/data or BAYESDP_SHARED, and isn't there")
    return path


def through(study_text: str, folder: Path) -> dict[str, Any]:
    """A study with its program on the command line: check, release, report, verify."""
    path = folder / "study.toml"
    path.write_text(study_text, encoding="utf-8")
    runner = CliRunner()
    checked = runner.invoke(app, ["check", str(path), "--data"])
    assert checked.exit_code == 0, checked.output
    report, certificate = folder / "report.html", folder / "certificate.json"
    files = ["--report", str(report), "--certificate", str(certificate)]
    done = runner.invoke(app, ["release", str(path), "--json", *files])
    assert done.exit_code == 0, done.output
    verified = runner.invoke(app, ["verify", str(certificate)])
    assert verified.exit_code == 0, verified.output
    explained = runner.invoke(app, ["explain", str(certificate)])
    assert explained.exit_code == 0, explained.output
    assert "Returned by programs" in report.read_text(encoding="utf-8")
    shown = Study.load(path).ledger().show()[0]
    assert [one["status"] for one in shown["releases"]] == ["released"]
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def test_the_wheeze_panel_end_to_end(tmp_path: Path) -> None:
    data = real("wheeze_panel/wheeze.csv")
    (tmp_path / "panel.py").write_text(
        HEAD
        + """@record
class Answer:
    wheeze: Bool
    mother_smoked: Public[Bool]


@program(epsilon=0.25)
def how_often(answers: Database[Answer]) -> Private[Beta]:
    model = observe((a.wheeze for a in answers), bernoulli, prior=beta(1, 1))
    return noise_aware(laplace(statistics(model), epsilon=0.25))
""",
        encoding="utf-8",
    )
    document = through(
        f"""[data]
source = "{data.resolve()}"
dataset = "wheeze-panel"
n = 2148
[data.columns]
child = {{ role = "series" }}
age_years = {{ role = "order", step = 1 }}
wheeze = {{ states = [0, 1] }}
mother_smoked = {{ public = true, states = [0, 1] }}
[population]
model = "markov"
transition = [[0.9132, 0.0868], [0.5361, 0.4639]]
initial = "stationary"
length = 4
covers = ["wheeze"]
source = "estimated from the same data: for a test"
[budget]
epsilon = 1.0
[[query]]
name = "how often"
kind = "program"
program = "panel.py:how_often"
[[query]]
name = "by smoking"
kind = "count"
where = "wheeze == 1"
by = "mother_smoked"
""",
        tmp_path,
    )
    beta = document["results"][-1]["outputs"][0]
    low, high = beta["interval95"]
    # 326 of 2148 answers are yes; the noise has scale 4.
    assert low < 326 / 2148 < high or abs(beta["mean"] - 326 / 2148) < 40 / 2148
    assert document["level"] <= 1.0


def test_the_family_heights_end_to_end(tmp_path: Path) -> None:
    data = real("galton_heights/galton_trios.csv")
    (tmp_path / "trios.py").write_text(
        HEAD
        + """@record
class Person:
    height_cm: Real[100, 250]


@program
def mean_height(people: Database[Person]) -> Private[Normal]:
    heights = (clip(p.height_cm, 140, 200) for p in people)
    model = observe(heights, normal(sd=9), prior=normal(170, sd=15))
    return noise_aware(laplace(statistics(model), epsilon=0.5))
""",
        encoding="utf-8",
    )
    document = through(
        f"""[data]
source = "{data.resolve()}"
dataset = "trios"
n = 591
[data.columns]
family = {{ role = "cluster" }}
height_cm = {{ bounds = [140, 200], unit = "cm" }}
[population]
model = "gaussian"
size = 3
max_correlation = 0.275
covers = ["height_cm"]
source = "published correlations, equal variances asserted: for a test"
[budget]
epsilon = 1.0
[[query]]
name = "mean"
kind = "program"
program = "trios.py:mean_height"
""",
        tmp_path,
    )
    # A Lipschitz program in the covered column: 1 + 2 * 0.275 times its cost, not 3 times.
    assert document["level"] == pytest.approx(0.5 * 1.55, rel=1e-5)
    assert 165 < document["results"][-1]["outputs"][0]["mean"] < 175
