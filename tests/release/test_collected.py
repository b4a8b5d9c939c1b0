"""Perturbed answers in a study: what they cost under dependence, what they say, what is refused."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from typer.testing import CliRunner

import bayesdp as bdp
from bayesdp import kernel
from bayesdp.accounting import Block, Ledger, Spend, total_cost
from bayesdp.cli import app
from bayesdp.errors import BudgetExceededError, InputError, UnsupportedError
from bayesdp.kernel.costs.collected import Evidence, chances, estimate
from bayesdp.mechanisms import RandomizedResponse
from bayesdp.release import Study
from bayesdp.release.queries.collected import CollectedAnswers
from bayesdp.release.results.release import Release
from bayesdp.statements.spends import COLLECTED
from tests.effort import runs

Document = dict[str, Any]
STATES = ("no", "yes", "often")
N = 120
RNG = np.random.default_rng(11)
TABLE = pd.DataFrame(
    {
        "smokes": RNG.choice(STATES, p=[0.6, 0.3, 0.1], size=N),
        "x": RNG.uniform(0, 10, N),
        "ill": RNG.integers(0, 2, N),
        "home": np.arange(N) // 2,
        "role": np.where(np.arange(N) % 2, "child", "parent"),
    }
)
COLUMNS: Document = {
    "smokes": {"states": list(STATES)},
    "x": {"bounds": [0.0, 10.0]},
    "ill": {"states": [0, 1]},
    "home": {"role": "cluster"},
    "role": {"public": True, "states": ["child", "parent"]},
}
ANSWERS: Document = {"kind": "randomized_response", "column": "smokes", "epsilon": 1.0}
MEAN: Document = {"kind": "mean", "column": "x"}


def study(folder: Path, *queries: Document, table: pd.DataFrame = TABLE, **other: Any) -> Study:
    made: Document = {
        "dataset": "d",
        "n": len(table),
        "columns": COLUMNS,
        "population": {
            "model": "clusters",
            "size": 2,
            "covers": ["smokes", "x", "ill"],
            "source": "us",
        },
        "budget": {"epsilon": 20.0, "spend": 6.0},
        "ledger": str(folder / "ledger.db"),
    }
    named = [{"name": f"q{i}"} | query for i, query in enumerate(queries)]
    return Study(table, **(made | other), queries=named)


def valid(release: Release) -> bool:
    return bool(kernel.check(json.loads(release.certificate.to_json())))


# -- what collection costs ---------------------------------------------------------------------


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_the_answers_of_neighbours_differ_by_the_cost(size: int, epsilon: float) -> None:
    """Exhaustively over three records: all answers together cost what one does, and no less.

    The channel is the kernel's, and that of the function that collects.
    """
    kept, other = (float(chance.mid()) for chance in chances(epsilon, size))
    stated = RandomizedResponse.for_cost(tuple(range(size)), epsilon).channel()
    assert [row[0] for row in stated] == pytest.approx([kept] + [other] * (size - 1), rel=1e-12)
    tables = list(product(range(size), repeat=3))
    law = {
        true: [math.prod(stated[u][v] for u, v in zip(true, seen, strict=True)) for seen in tables]
        for true in tables
    }
    worst = max(
        p / q
        for true in tables
        for place, value in product(range(3), range(size))
        for p, q in zip(law[true], law[(*true[:place], value, *true[place + 1 :])], strict=True)
    )
    assert math.log(worst) == pytest.approx(epsilon, rel=1e-9)


def test_the_level_counts_all_records_that_depend_on_each_other(tmp_path: Path) -> None:
    """Copies of one answer: each is perturbed on its own, and both together tell twice as much.

    The level of the study is exactly that of two records with the same true answer.
    """
    epsilon = 1.0
    stated = RandomizedResponse.for_cost(STATES, epsilon).channel()
    both = [[stated[u][a] * stated[u][b] for a in range(3) for b in range(3)] for u in range(3)]
    worst = max(math.log(p / q) for u, v in product(both, both) for p, q in zip(u, v, strict=True))
    made = study(tmp_path, ANSWERS)
    release = made.release()
    assert release.level == pytest.approx(worst, rel=1e-9)
    assert worst > 1.9 * epsilon
    assert valid(release)
    single = {"model": "independent", "covers": ["smokes", "x", "ill"], "source": "us"}
    alone = study(tmp_path, ANSWERS, population=single, dataset="e").release()
    assert alone.level == pytest.approx(epsilon, rel=1e-9)


def test_costs_add_up_with_those_of_noise(tmp_path: Path) -> None:
    release = study(tmp_path, MEAN, ANSWERS).release()
    assert valid(release)
    assert release.level == pytest.approx(6.0, rel=1e-6)
    assert release.dp_epsilon == pytest.approx(3.0, rel=1e-6)
    assert release["q0"].dp_epsilon == pytest.approx(2.0, rel=1e-6)


def test_gaussian_noise_beside_answers(tmp_path: Path) -> None:
    budget = {"epsilon": 20.0, "spend": 6.0, "delta": 1e-6, "noise": "gaussian"}
    release = study(tmp_path, MEAN, ANSWERS, budget=budget).release()
    assert valid(release)
    assert release.dp_epsilon == 1.0
    assert release.dp_rho > 0.0
    only = study(tmp_path, ANSWERS, budget=budget, dataset="e").release()
    assert valid(only)


def test_answers_are_paid_for_once(tmp_path: Path) -> None:
    """In one study and in later ones: reading the same answers again costs nothing."""
    made = study(tmp_path, ANSWERS, ANSWERS | {"confidence": 0.9})
    first = made.release()
    assert first.dp_epsilon == 1.0
    second = study(tmp_path, ANSWERS | {"name": "later"}).release()
    assert second.certificate.body["data_set"]["dp_epsilon"] == 1.0
    assert valid(second)
    other = study(tmp_path, ANSWERS | {"column": "ill"}).release()
    assert other.certificate.body["data_set"]["dp_epsilon"] == 2.0
    third = study(tmp_path, MEAN, ANSWERS).release()
    assert third.certificate.body["data_set"]["dp_epsilon"] == pytest.approx(4.0, rel=1e-6)
    assert valid(third)
    assert "no further cost" in study(tmp_path, ANSWERS | {"name": "later"}).check().repeat


def collected(**other: Any) -> Spend:
    return Spend(
        **{
            "dataset": "d", "unit": "row", "query": "q", "kind": "any", "dp_epsilon": 1.0,
            "column": "s", "reads": ("s",), "mechanism": COLLECTED,
        } | other
    )  # fmt: skip


@pytest.mark.parametrize(
    ("other", "due"),
    [
        ({}, 1.0),
        ({"query": "later"}, 1.0),
        ({"column": "t", "reads": ("t",)}, 2.0),
        ({"dp_epsilon": 0.5}, 1.5),
        ({"mechanism": "randomized-response"}, 2.0),
    ],
)
def test_the_ledger_s_sum_counts_the_same_answers_once(other: Document, due: float) -> None:
    spends = [collected(), collected(**other)]
    assert total_cost(spends).any == due
    assert total_cost([*spends, *spends[::-1]]).any <= 2 * due
    others = [collected(mechanism="discrete-laplace")] * 2
    assert total_cost(others).any == 2.0


@pytest.mark.parametrize(
    "other",
    [
        {"column": None},
        {"reads": ("s", "t")},
        {"kind": "lipschitz", "interval": (0.0, 1.0)},
        {"block": Block("g", ("a",))},
    ],
)
def test_a_spend_on_answers_is_of_one_column(other: Document) -> None:
    with pytest.raises(InputError, match="mechanism"):
        collected(**other)


def test_a_ledger_keeps_to_its_total(tmp_path: Path) -> None:
    budget = {"epsilon": 1.9}
    with pytest.raises(BudgetExceededError, match="paid when answers were perturbed"):
        study(tmp_path, ANSWERS, budget=budget).release()
    with pytest.raises(BudgetExceededError, match="nothing is left"):
        study(tmp_path, ANSWERS, MEAN, budget={"epsilon": 2.0}).release()
    assert not (tmp_path / "ledger.db").exists() or not Ledger(
        str(tmp_path / "ledger.db")
    ).releases("d")


# -- what answers say --------------------------------------------------------------------------


def test_the_released_numbers_are_those_of_the_answers(tmp_path: Path) -> None:
    release = study(tmp_path, ANSWERS).release()
    odds = math.e
    kept, other = odds / (odds + 2), 1 / (odds + 2)
    for state in STATES:
        result = release["q0", state]
        answers = int((TABLE.smokes == state).sum())
        assert result.answers.answers == answers
        assert result.value == pytest.approx((answers - N * other) / (kept - other), rel=1e-12)
        assert result.share == result.value / N
        low, high = result.interval(0.95)
        assert 0 <= low <= high <= N
        assert result.error(0.95) >= max(high - result.value, result.value - low)
    frame = release.to_pandas()
    assert list(frame.cell) == list(STATES)
    assert sum(result.value for result in release["q0"]) == pytest.approx(N)


def test_projected_numbers_can_be_true(tmp_path: Path) -> None:
    few = TABLE.assign(smokes=["no"] * (N - 20) + ["yes"] * 20)
    results = study(tmp_path, ANSWERS, table=few).release()["q0"]
    assert min(result.value for result in results) < 0
    made = results.projected()
    assert min(made.values.values()) == 0.0
    assert sum(made.values.values()) == pytest.approx(N)
    assert made.total == N
    with pytest.raises(InputError, match="estimates from perturbed answers"):
        study(tmp_path, {"kind": "histogram", "column": "ill"}, dataset="e").release()[
            "q0"
        ].projected()
    with pytest.raises(InputError):
        results.consistent(N)
    with pytest.raises(InputError):
        results.largest(1)
    with pytest.raises(InputError):
        results[0].over(results[1])


@pytest.mark.parametrize("case", range(runs(200, least=30)))
def test_the_kernel_s_tail_is_an_upper_bound_and_hardly_more(case: int) -> None:
    """Against the convolution of two binomial laws."""
    rng = np.random.default_rng(case)
    n, size = int(rng.integers(1, 400)), int(rng.integers(2, 6))
    count, seen = int(rng.integers(0, n + 1)), int(rng.integers(0, n + 1))
    epsilon = float(rng.uniform(0.05, 4))
    kept = math.exp(epsilon) / (math.exp(epsilon) + size - 1)
    other = 1 / (math.exp(epsilon) + size - 1)
    law = np.convolve(
        binom.pmf(np.arange(count + 1), count, kept),
        binom.pmf(np.arange(n - count + 1), n - count, other),
    )
    evidence = Evidence(seen, n, epsilon, size)
    for tail, decide in (
        (law[seen:].sum(), evidence.too_few),
        (law[: seen + 1].sum(), evidence.too_many),
    ):
        assert not decide(count, Fraction(max(float(tail) * (1 - 1e-9) - 1e-13, 0.0)))
        assert decide(count, Fraction(float(tail) * (1 + 1e-9) + n * 2.0**-48 + 1e-12))


def test_the_tail_of_many_records() -> None:
    """Where only what lies near the means is summed: against the normal law."""
    n, epsilon = 10**7, 1.0
    kept, other = math.e / (math.e + 1), 1 / (math.e + 1)
    count = 4_000_000
    mean = count * kept + (n - count) * other
    deviation = math.sqrt(n * kept * other)
    for times, tail in ((2.0, 0.02275013), (3.0, 0.00134990)):
        evidence = Evidence(round(mean + times * deviation), n, epsilon, 2)
        assert evidence.too_few(count, Fraction(tail * 1.003))
        assert not evidence.too_few(count, Fraction(tail * 0.997))
        evidence = Evidence(round(mean - times * deviation), n, epsilon, 2)
        assert evidence.too_many(count, Fraction(tail * 1.003))
        assert not evidence.too_many(count, Fraction(tail * 0.997))


@cache
def interval(answers: int, n: int, size: int, epsilon: float) -> tuple[int, int, float]:
    made = CollectedAnswers(answers, n, size, epsilon)
    return (*made.interval(0.95), made.estimate)


@pytest.mark.parametrize(("size", "epsilon"), [(2, 0.5), (2, 3.0), (4, 1.5)])
def test_intervals_cover_for_every_number_of_holders(size: int, epsilon: float) -> None:
    """Exactly, over the law of the answers: at least 95 %, and not much more in the middle."""
    n = 80
    kept = math.exp(epsilon) / (math.exp(epsilon) + size - 1)
    other = 1 / (math.exp(epsilon) + size - 1)
    for count in range(0, n + 1, 4):
        law = np.convolve(
            binom.pmf(np.arange(count + 1), count, kept),
            binom.pmf(np.arange(n - count + 1), n - count, other),
        )
        ends = [interval(seen, n, size, epsilon) for seen in range(n + 1)]
        covered = sum(p for p, (a, b, _) in zip(law, ends, strict=True) if a <= count <= b)
        mean = sum(p * value for p, (_, _, value) in zip(law, ends, strict=True))
        assert covered >= 0.95
        assert covered <= 0.99 or not 0.2 <= count / n <= 0.8
        assert mean == pytest.approx(count, abs=1e-8)


@pytest.mark.prove
def test_error_bars_are_kept_over_many_tables() -> None:
    """10,000 seeded collections of 300 records of three states, each by its own draw."""
    rng, n, epsilon = np.random.default_rng(5), 300, 1.2
    kept = math.exp(epsilon) / (math.exp(epsilon) + 2)
    true = np.repeat([0, 1, 2], [200, 70, 30])
    kept_to = np.zeros(3)
    total = runs(10_000)
    for _ in range(total):
        lies = rng.random(n) >= kept
        answers = np.where(lies, (true + rng.integers(1, 3, n)) % 3, true)
        for state, held in enumerate((200, 70, 30)):
            low, high, value = interval(int((answers == state).sum()), n, 3, epsilon)
            error = max(high - value, value - low)
            kept_to[state] += low <= held <= high and abs(value - held) <= error
    slack = 4 * math.sqrt(0.05 * 0.95 / total)
    assert all(0.95 - slack <= share <= 0.985 for share in kept_to / total)


def test_intervals_are_the_closest_that_hold() -> None:
    for n, answers in ((1, 0), (1, 1), (2, 1), (50, 0), (50, 50), (1000, 444), (10**6, 400_000)):
        made = CollectedAnswers(answers, n, 2, 0.8)
        low, high = made.interval(0.9)
        evidence = Evidence(answers, n, 0.8, 2)
        allowed = (1 - Fraction(0.9)) / 2
        assert low == 0 or evidence.too_few(low - 1, allowed)
        assert high == n or evidence.too_many(high + 1, allowed)
        assert low >= high or not evidence.too_few(low, allowed)
        assert low >= high or not evidence.too_many(high, allowed)
        assert made.estimate == float(estimate(answers, n, 0.8, 2).mid())
    for wrong in (0.0, 1.0, 2.0):
        with pytest.raises(InputError, match="confidence"):
            CollectedAnswers(1, 2, 2, 1.0).interval(wrong)


# -- what people are told ----------------------------------------------------------------------


def test_a_check_says_that_collection_was_the_cost(tmp_path: Path) -> None:
    check = study(tmp_path, MEAN, ANSWERS).check()
    assert "perturbed at collection (epsilon 1, counted once)" in str(check)
    assert "at collection" in check._repr_html_()
    assert "2 queries" in repr(check)


def test_the_certificate_says_how_answers_were_perturbed(tmp_path: Path) -> None:
    release = study(tmp_path, ANSWERS).release()
    (line,) = [line for line in release.certificate.body["assumptions"] if "perturbed" in line]
    assert "the cells of column 'smokes' are answers that were perturbed" in line
    assert "epsilon 1.0" in line
    assert not any("sampler" in line for line in release.certificate.body["assumptions"])
    mixed = study(tmp_path, ANSWERS, MEAN, dataset="e").release().certificate.body["assumptions"]
    assert "noise is drawn from OpenDP's discrete Laplace sampler" in mixed


def test_the_command_line(tmp_path: Path) -> None:
    """The price list, the release, and both as plain data."""
    TABLE.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "study.toml").write_text(
        """
[data]
source = "people.csv"
dataset = "people"
n = 120
[data.columns]
home = { role = "cluster" }
smokes = { states = ["no", "yes", "often"] }
x = { bounds = [0, 10] }
[population]
model = "clusters"
size = 2
covers = ["smokes", "x"]
source = "us"
[budget]
epsilon = 9.0
[[query]]
name = "smokers"
kind = "randomized_response"
column = "smokes"
epsilon = 1.0
[[query]]
name = "mean"
kind = "mean"
column = "x"
"""
    )
    file = str(tmp_path / "study.toml")

    def run(*command: str) -> str:
        result = CliRunner().invoke(app, list(command))
        assert result.exit_code == 0, result.output
        return result.stdout

    checked = run("check", file)
    assert "smokers" in checked
    assert "at collection" in checked
    plain = json.loads(run("check", file, "--json"))
    assert plain["collected"][0]["epsilon"] == 1.0
    assert 20 < plain["collected"][0]["about_error"] < 40
    assert [query["name"] for query in plain["queries"]] == ["mean"]
    assert "perturbed before anybody saw them" in " ".join(run("explain", file).split())
    report = str(tmp_path / "report.html")
    released = json.loads(run("release", file, "--json", "--report", report))
    kinds = [result["kind"] for result in released["results"]]
    assert kinds == ["mean"] + ["randomized_response"] * 3
    assert kernel.check(released["certificate"])
    assert "perturbed when they were collected" in (tmp_path / "report.html").read_text()
    assert "as much again: DP cost 3.5." in Study.load(file).check().repeat


# -- what is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "key", "words"),
    [
        ({"epsilon": None}, "epsilon", "epsilon with which every answer"),
        ({"epsilon": 101.0}, "epsilon", "at most 100"),
        ({"weight": 1.0}, "weight", "paid when they were collected"),
        ({"error": 1.0}, "error", "paid when they were collected"),
        ({"where": "role == 'child'"}, "where", "all records"),
        ({"by": "role"}, "by", "all records"),
        ({"bins": [0.0, 1.0, 2.0]}, "bins", "all records"),
        ({"tightness": "mechanism"}, "tightness", "dp"),
        ({"column": "x"}, "column", "column of answers"),
        ({"column": "role"}, "column", "column of answers"),
        ({"column": "smoks"}, "column", "column of answers"),
        ({"column": ["smokes", "ill"]}, "column", "one column"),
        ({"column": None}, "column", "column of answers"),
    ],
)
def test_wrong_keys(tmp_path: Path, change: Document, key: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as refused:
        study(tmp_path, ANSWERS | change).check()
    assert refused.value.key == f"query[0].{key}"


def test_an_epsilon_belongs_to_answers(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="randomized_response"):
        study(tmp_path, MEAN | {"epsilon": 1.0}).check()


@pytest.mark.parametrize(
    "column",
    [
        {"states": list(STATES), "missing": {"impute": "no"}},
        {"states": list(STATES), "other": "often"},
        {"states": ["no"]},
    ],
)
def test_cells_are_what_was_answered(tmp_path: Path, column: Document) -> None:
    with pytest.raises(InputError, match=r"data\.columns\.smokes"):
        study(tmp_path, ANSWERS, columns=COLUMNS | {"smokes": column}).check()


@pytest.mark.parametrize(
    "other",
    [
        {"kind": "histogram", "column": "smokes"},
        {"kind": "count", "where": "smokes == 'no'"},
        {"kind": "mean", "column": "x", "where": "role == 'child'"},
        {"kind": "count", "where": "often == 1"},
        {"kind": "regression", "outcome": "often", "on": "x"},
        {"kind": "regression", "outcome": "x", "on": ["often"]},
        {"kind": "covariance", "column": ["x", "often"]},
        {"kind": "series", "column": "smokes"},
    ],
)
def test_no_other_query_takes_answers_for_true(tmp_path: Path, other: Document) -> None:
    columns = COLUMNS | {"often": {"from": "smokes", "where": "smokes == 'often'"}}
    if other["kind"] == "mean":
        study(tmp_path, ANSWERS, other, columns=columns).check()
        return
    with pytest.raises(InputError, match="whose cells are perturbed answers"):
        study(tmp_path, ANSWERS, other, columns=columns)


def test_answers_were_perturbed_in_one_way(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="says of the same answers") as refused:
        study(tmp_path, ANSWERS, ANSWERS | {"epsilon": 2.0}).check()
    assert refused.value.key == "query[1].epsilon"
    several = {"kind": "quantile", "column": "x", "probabilities": [0.25, 0.5], "step": 0.5}
    with pytest.raises(InputError, match="says of the same answers") as refused:
        study(tmp_path, several, ANSWERS, ANSWERS | {"epsilon": 2.0}).check()
    assert refused.value.key == "query[2].epsilon"  # as the study file counts them


def test_a_strategy_is_named_as_the_study_file_counts_it(tmp_path: Path) -> None:
    several = {"kind": "quantile", "column": "x", "probabilities": [0.25, 0.5], "step": 0.5}
    series = {"kind": "series", "column": "ill", "strategy": "square-root"}
    with pytest.raises(InputError, match="with Laplace noise") as refused:
        study(tmp_path, several, series).check()
    assert refused.value.key == "query[1].strategy"


def test_records_are_rows(tmp_path: Path) -> None:
    columns = COLUMNS | {"home": {"public": True}}
    single = {"model": "independent", "covers": ["smokes", "x", "ill"], "source": "us"}
    with pytest.raises(UnsupportedError, match="each record has given one"):
        study(
            tmp_path, ANSWERS, unit="home", rows_per_unit=2, n=60, columns=columns,
            population=single,
        ).check()  # fmt: skip


def test_too_many_states_and_records(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="at most 1 states of 17179869184 records"):
        study(tmp_path, ANSWERS, n=2**34).check()


def test_a_population_that_rules_values_out(tmp_path: Path) -> None:
    """True answers never follow each other so, and perturbed ones do."""
    chain = {
        "model": "markov",
        "transition": [[1.0, 0.0], [0.5, 0.5]],
        "initial": [0.5, 0.5],
        "length": N,
        "covers": ["ill"],
    }
    columns = {"ill": {"states": [0, 1]}, "day": {"role": "order", "step": 1}}
    table = TABLE.assign(day=np.arange(N))[["ill", "day"]]
    asked = ANSWERS | {"column": "ill"}
    with pytest.raises(UnsupportedError, match="rules nothing out"):
        study(tmp_path, asked, table=table, population=chain, columns=columns).check()
    chain["transition"] = [[0.9, 0.1], [0.5, 0.5]]
    made = study(tmp_path, asked, table=table, population=chain, columns=columns)
    assert valid(made.release())


def test_a_population_must_speak_of_the_answers(tmp_path: Path) -> None:
    others = {"model": "clusters", "size": 2, "covers": ["x", "ill"], "source": "us"}
    with pytest.raises(InputError, match="population speaks about"):
        study(tmp_path, ANSWERS, population=others).check()


def test_an_answer_that_is_no_state_refuses_the_table(tmp_path: Path) -> None:
    table = TABLE.assign(smokes=["maybe", *TABLE.smokes[1:]])
    with pytest.raises(bdp.TableMismatchError) as refused:
        study(tmp_path, ANSWERS, table=table).release()
    assert "maybe" not in str(refused.value)
