"""Programs as queries of a study: price, release, and what people read of them."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

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
from bayesdp.release import Study
from bayesdp.release.certificates.derivation import provable_plan
from bayesdp.release.price.plan import make_plan
from bayesdp.release.spec.program_files import ProgramRefusedError
from bayesdp.report.explain import explain
from bayesdp.report.html import render
from bayesdp.report.plain import check_document
from bayesdp.report.sections import study_section
from tests.chance import Chance, discrete_laplace
from tests.effort import in_full
from tests.release.program_studies import (
    HEAD,
    PEOPLE,
    POPULATION,
    TABLE,
    asks,
    changed,
    study,
)
from tests.release.test_processes import run as run_jobs

# -- price -----------------------------------------------------------------------------------


def test_the_programs_have_their_own_cost_and_the_others_share_the_rest(tmp_path: Path) -> None:
    counts = [
        {"name": "tall", "kind": "count", "where": "height > 175"},
        {"name": "smoke", "kind": "count", "where": "smokes == True", "weight": 3},
    ]
    made = study(tmp_path, counts[0], asks("smokers"), counts[1], asks("height"))
    plan = make_plan(made.spec)
    assert [program.dp_epsilon for program in plan.programs] == [0.25, 0.5]
    shares = [query.dp_epsilon for query in plan.queries]
    assert shares[1] == pytest.approx(3 * shares[0])
    # Clusters of two: the level is twice the sum, and all of the budget is used.
    assert sum(shares) + 0.75 == pytest.approx(2.0, rel=1e-6)
    assert 3.99 < plan.level <= 4.0
    assert {spend.query for spend in plan.spends} == {"tall", "smoke", "smokers", "height"}


def test_programs_that_cost_more_than_the_study_may_spend_are_refused(tmp_path: Path) -> None:
    made = study(tmp_path, asks("height"), budget={"epsilon": 0.9})
    with pytest.raises(BudgetExceededError, match=r"The programs alone reach the level 1, "):
        made.check()
    count = {"name": "tall", "kind": "count", "where": "height > 175"}
    made = study(
        tmp_path, asks("height"), count, budget={"notion": "dp", "epsilon": 0.5}, population=None
    )
    with pytest.raises(BudgetExceededError, match="The programs use up the study's budget"):
        made.check()
    assert not (tmp_path / "ledger.db").exists()


def test_a_whole_budget_may_be_a_programs(tmp_path: Path) -> None:
    # Twice a half is 1, in doubles too.
    for budget in ({"epsilon": 1.0}, {"notion": "dp", "epsilon": 0.5}):
        folder = tmp_path / str(budget["epsilon"])
        folder.mkdir()
        people = POPULATION if "notion" not in budget else None
        done = study(folder, asks("height"), budget=budget, population=people).release()
        assert done.level == pytest.approx(budget["epsilon"], rel=2e-5)
        with pytest.raises(BudgetExceededError):
            study(folder, asks("height"), budget=budget, population=people).release(again=True)


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
    assert any(
        "has exactly 8 records" in statement for statement in done.certificate.body["assumptions"]
    )
    with pytest.raises(ProgramRefusedError, match=r"never true|precondition"):
        study(tmp_path, query, text=text.replace(">= 2", ">= 9")).check()


def test_a_program_that_costs_nothing_is_sent_to_what_there_is(tmp_path: Path) -> None:
    text = """@program
def size(obs: Database[Bool]) -> Private[Int]:
    return obs.size
"""
    query = {"name": "c", "kind": "program", "program": "people.py:size", "columns": {}}
    with pytest.raises(InputError, match=r"PROGRAM\.run\(table, ledger=") as caught:
        study(tmp_path, query, text=text).check()
    assert "bayesdp program run" not in str(caught.value)


# -- release -----------------------------------------------------------------------------------


def test_a_release_with_programs_end_to_end(tmp_path: Path) -> None:
    count = {"name": "tall", "kind": "count", "where": "height > 175"}
    made = study(tmp_path, asks("smokers"), count, asks("height"), asks("northern"))
    done = made.release()
    assert [item.query for item in done] == ["tall", "smokers", "height", "northern"]
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
    assert any(
        "of the program 'smokers': the program's text" in assumption
        for assumption in verdict.assuming
    )
    shown = made.ledger().show()[0]
    (release,) = shown["releases"]
    assert release["status"] == "released"
    assert {item["query"]: item["reads"] for item in release["spends"]} == {
        "tall": ["height"],
        "smokers": ["smokes"],
        "height": ["height"],
        "northern": ["smokes"],
    }
    assert {item["mechanism"] for item in release["spends"]} == {"discrete-laplace", "program"}
    json.dumps(done.to_dict(), allow_nan=False)
    with pytest.raises(BudgetExceededError):  # all of the budget is spent
        made.release(again=True)


MANY = """@record
class Person:
    smokes: Bool


@program
def many(people: Database[Person]) -> Private[Vector]:
    smokers = count(p for p in people if p.smokes)
    return laplace(tuple(smokers for _ in range(2000)), epsilon=1000)
"""


@pytest.mark.prove
def test_the_noise_is_what_the_cost_says(tmp_path: Path, chance: Chance) -> None:
    """One record moves the 2,000 cells by 2,000 in all, for a cost of 1,000: the scale is 2."""
    made = study(tmp_path, asks("many"), text=MANY, budget={"epsilon": 1e4})
    releases, off = (4, (1.2, 0.83)) if in_full() else (2, (1.3, 0.77))
    noise = [
        int(cell) - sum(TABLE["smokes"])
        for _ in range(releases)
        for cell in made.release(again=True)["many"].value
    ]
    assert len(noise) == 2_000 * releases
    chance.expect_law(noise, discrete_laplace(2.0))
    for factor in off:
        chance.expect_other(noise, discrete_laplace(factor * 2.0), discrete_laplace(2.0))


def test_gaussian_and_laplace_releases_are_two_spends(tmp_path: Path) -> None:
    made = study(
        tmp_path,
        asks("both", parameters={"level": 0.75}),
        asks("smokers"),
        {"name": "tall", "kind": "count", "where": "height > 175", "weight": 1},
        budget={"epsilon": 8.0, "delta": 1e-5, "noise": "laplace"},
    )
    plan = make_plan(made.spec)
    pure, rho = (spend for spend in plan.spends if spend.query == "both")
    assert (pure.dp_epsilon, pure.rho, pure.kind) == (0.25, 0.0, "any")
    assert rho.dp_epsilon == 0.0
    # (0.75, 1e-7) by the conversion of rho, the best of whole curves: pinned from both sides.
    assert 0.008 < rho.rho < 0.75**2 / 2
    done = made.release()
    assert kernel.check(json.loads(done.certificate.to_json())).verdict == "VALID ASSUMING"
    assert any(
        "has a variance of at least" in statement
        for statement in done.certificate.body["assumptions"]
    )
    assert done.dp_rho == rho.rho
    with pytest.raises(Refusal, match="State a delta"):
        study(tmp_path, asks("both"), budget={"epsilon": 8.0}).check()


def test_a_private_table_that_does_not_fit_is_refused_with_nothing_spent(tmp_path: Path) -> None:
    text = PEOPLE.replace("height: Real[100, 230]", "height: Int[100, 230]")
    made = study(tmp_path, asks("height"), text=text)
    with pytest.raises(TableMismatchError, match="as the study declares it"):
        made.release()  # 171.5 is not a whole number
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
        study(tmp_path, asks("northern"), columns=columns, table=other).release(again=True)


def test_preconditions_on_the_number_of_records_cost_nothing(tmp_path: Path) -> None:
    text = PEOPLE.replace(
        "    model = observe((p", "    require(people.size > 8)\n    model = observe((p"
    )
    made = study(tmp_path, asks("smokers"), text=text, n="from data")
    made.check()  # for every number of records that is admitted
    with pytest.raises((InputError, Refusal)):
        made.release()
    assert not (tmp_path / "ledger.db").exists()


def test_noise_that_no_sampler_takes_costs_nothing(tmp_path: Path) -> None:
    text = PEOPLE.replace("p.smokes), epsilon=1 / 4)", "p.smokes), epsilon=1e-40)")
    assert text != PEOPLE
    loaded = study(tmp_path, asks("smokers"), asks("northern"), text=text)
    with pytest.raises(InputError, match="noise"):
        loaded.release()
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


# -- failures --------------------------------------------------------------------------------------


def _failing(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """The second posterior of a release fails."""
    from bayesdp.programs.run.posteriors import from_releases

    real, calls = from_releases.derived, []

    def derived(*given: Any) -> Any:
        calls.append(given)
        if len(calls) == 2:
            raise error
        return real(*given)

    monkeypatch.setattr(from_releases, "derived", derived)


def test_a_posterior_that_fails_loses_nothing_that_was_released(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queries = [asks("smokers"), asks("height"), asks("northern")]
    loaded = study(tmp_path, {"name": "ones", "kind": "count", "where": "smokes == True"}, *queries)
    _failing(monkeypatch, ValueError("no such posterior"))
    done = loaded.release()
    assert isinstance(done["ones"].value, float | int)
    assert 0 < done["smokers"].mean < 1
    assert isinstance(done["northern"].value, int)
    failed = done["height"]
    assert "ValueError: no such posterior" in failed.failure
    assert failed.outputs == (*failed.releases.values(), failed.failure)
    assert all(isinstance(value, float | int) for value in failed.releases.values())
    assert failed.releases
    for ask in (lambda: failed.value, lambda: failed.mean):
        with pytest.raises(UnsupportedError, match="no such posterior"):
            ask()
    assert "no such posterior" in str(done)
    (kept,) = loaded.ledger().show()[0]["releases"]
    assert kept["result"] == json.loads(json.dumps(done.to_dict()))
    assert kernel.check(json.loads(done.certificate.to_json())).verdict == "VALID ASSUMING"
    assert "no such posterior" in render([study_section(loaded, done, "")])


def test_errors_of_what_reads_private_values_are_not_quoted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bayesdp.programs.run.values.private import PrivateValues

    loaded = study(tmp_path, asks("smokers"))
    real, calls = PrivateValues.amount, []

    def amount(self: PrivateValues, expr: Any) -> Any:
        calls.append(expr)
        if self.rows.rows.size > 1:  # the rehearsal's made-up record passes
            raise ValueError("the cell says 182.25")
        return real(self, expr)

    monkeypatch.setattr(PrivateValues, "amount", amount)
    failed = loaded.release()["smokers"]
    assert "ValueError" in failed.failure
    assert "182.25" not in json.dumps(loaded.ledger().show())
    assert failed.releases == {}


def test_an_interrupted_release_keeps_what_was_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = study(tmp_path, asks("smokers"), asks("height"), asks("northern"))
    _failing(monkeypatch, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        loaded.release()
    (kept,) = loaded.ledger().show()[0]["releases"]
    first, second = kept["result"]["results"]
    assert (first["query"], second["query"]) == ("smokers", "height")
    assert first["releases"]
    assert second["releases"]
    assert second["outputs"][-1] == {"type": "failure", "value": "The release was cut short."}


# -- deaths ----------------------------------------------------------------------------------------


def test_a_death_between_debit_and_result_loses_budget_and_shows_nothing(tmp_path: Path) -> None:
    study(tmp_path, asks("smokers"))
    rows = ["smokes"] + [str(item).lower() for item in TABLE["smokes"]]
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
    assert [line["status"] for line in shown["releases"]] == ["debited"]
    assert shown["spent"] == 0.25


@pytest.mark.parametrize(
    ("given", "key", "value", "expected"),
    [
        ({"level": 50}, "level", 50, "a value of Real[0.001, 10]"),
        ({"level": "much"}, "level", "much", "a value of Real[0.001, 10]"),
        ({"lvel": 0.5}, "lvel", 0.5, "a public argument of both"),
    ],
)
def test_a_wrong_parameter_is_named_with_its_value(
    tmp_path: Path, given: dict[str, Any], key: str, value: object, expected: str
) -> None:
    made = study(tmp_path, asks("smokers"), asks("both", parameters=given))
    with pytest.raises(InputError) as refusal:
        made.check()
    assert refusal.value.key == f"query[1].parameters.{key}"
    assert refusal.value.value == value
    assert refusal.value.expected == expected
