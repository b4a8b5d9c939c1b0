"""What would help: each proposal's price is the one of the changed study, written out by hand."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import bayesdp as bdp
from bayesdp.accounting.costs.rounded import up_words
from bayesdp.cli import app
from bayesdp.mechanisms import RandomizedResponse

CLUSTERED = {"g": {"role": "cluster"}, "x": {"bounds": [0, 100]}, "s": {"states": [0, 1]}}
SERIES = {
    "p": {"role": "series"},
    "t": {"role": "order", "step": 1},
    "x": {"bounds": [0, 100]},
    "s": {"states": [0, 1]},
}
MEAN = {"name": "m", "kind": "mean", "column": "x"}
COUNT = {"name": "k", "kind": "count", "where": "s == 1"}
SHARE = {"name": "share", "kind": "proportion", "where": "s == 1"}
FIVE = {"model": "clusters", "size": 5, "covers": ["x"]}
CHAIN = {
    "model": "markov",
    "transition": [[0.8, 0.2], [0.2, 0.8]],
    "length": 6,
    "covers": ["s"],
}


def study(
    population: Any, *queries: Any, columns: Any = CLUSTERED, n: Any = 200, **budget: Any
) -> bdp.Study:
    """Without a table: nothing is read."""
    return bdp.Study(
        dataset="d",
        n=n,
        columns=columns,
        population=population,
        budget={"epsilon": 0.2} | budget,
        queries=list(queries),
    )


def error(made: bdp.Study) -> float:
    plan = made.check().plan
    value = plan.queries[0].error(0.95, plan.n)
    assert value is not None
    return value


def by_name(made: bdp.Study) -> dict[str, Any]:
    return {row.name: row for row in made.what_would_help()}


def priced(made: bdp.Study, name: str, changed: bdp.Study) -> None:
    """The proposal has the errors of the study as it is and of the one that is changed by hand."""
    query = made.spec.queries[0].name
    before, after = by_name(made)[name].errors[query]
    assert before == error(made)
    assert after == pytest.approx(error(changed), rel=1e-6)
    assert after < before


def test_a_narrower_interval() -> None:
    columns = CLUSTERED | {"x": {"bounds": [25, 75]}}
    name = "a narrower secrets interval"
    priced(study(FIVE, MEAN), name, study(FIVE, MEAN, columns=columns))
    change = by_name(study(FIVE, MEAN))[name].change
    assert change == "data.columns.x.bounds = [25, 75] instead of [0, 100]"


def test_capped_clusters() -> None:
    """Priced as if one cluster were larger, and it says what is left where all are full."""
    name = "capped clusters"
    for query, covers in ((MEAN, "x"), (COUNT, "s")):
        large = {**FIVE, "covers": [covers]}
        priced(study(large, query), name, study({**large, "size": 3}, query, n=198))
    strong = {"model": "gaussian", "size": 4, "max_correlation": 0.9, "covers": ["x"]}
    priced(study(strong, MEAN), name, study({**strong, "size": 2}, MEAN, n=198))
    # A cap of one leaves no cluster, and one above what can be there removes nothing.
    assert name not in by_name(study({**FIVE, "size": 2}, MEAN))
    assert "at most 2 records" in by_name(study({**FIVE, "size": 3}, MEAN))[name].change
    condition = by_name(study(FIVE, MEAN))[name].condition
    assert "it pays where few clusters are larger" in condition
    assert "must not depend on their private values" in condition
    unknown = by_name(study(FIVE, {**COUNT, "where": "x > 5"}, n="from data"))[name]
    assert unknown.change.endswith("population.size = 3")
    # With a wanted error that is refused, the smaller clusters make it possible.
    wanted = study(FIVE, {**MEAN, "kind": "sum", "error": 6000})
    with pytest.raises(bdp.BudgetExceededError):
        wanted.check()
    row = by_name(wanted)["capped clusters"]
    kept = "data.n = the records that are kept (at least 120; priced for the most, 198)"
    assert f"population.size = 3, {kept}" in row.change
    before, after = row.errors["m"]
    assert before is None
    assert after <= 6000


def test_clusters_that_are_all_full_gain_nothing() -> None:
    """Of 200 records in 40 clusters of five, 120 are left: the errors are those of before."""
    name, families = "capped clusters", {"role": "cluster", "states": list(range(40))}
    columns = CLUSTERED | {"g": families}
    assert name not in by_name(study(FIVE, MEAN, columns=columns))
    large = {**FIVE, "covers": ["s"]}
    assert name not in by_name(study(large, COUNT, columns=columns))
    # Where the number of clusters is not declared, or larger, it depends: both are said.
    columns = CLUSTERED | {"g": families | {"states": list(range(50))}}
    some = by_name(study(FIVE, MEAN, columns=columns))[name]
    assert "at least 120; priced for the most, 150" in some.change
    assert some.errors["m"][1] == error(study({**FIVE, "size": 3}, MEAN, n=150))
    full = error(study({**FIVE, "size": 3}, MEAN, n=120))
    assert some.condition.endswith(f"if all clusters are full: m +- {up_words(full)}")
    assert full > 0.98 * error(study(FIVE, MEAN))


def test_sizes_of_groups_are_those_of_the_records_that_are_kept() -> None:
    columns = CLUSTERED | {"sex": {"public": True, "states": ["f", "m"]}}
    grouped = {**MEAN, "by": "sex", "group_sizes": {"f": 110, "m": 90}}
    row = by_name(study(FIVE, grouped, columns=columns))["capped clusters"]
    assert "data.n and group_sizes = the records that are kept" in row.change
    fewest = {**grouped, "group_sizes": {"f": 66, "m": 54}}
    capped = study({**FIVE, "size": 3}, fewest, columns=columns, n=120).check().plan.queries[0]
    value = capped.error(0.95, 54)
    assert value is not None
    assert row.condition.endswith(f"if all clusters are full: m +- {up_words(value)}")
    series = {"model": "autoregressive", "coefficient": 0.9, "length": 20, "covers": ["x"]}
    public = {"sex": {"public": True, "states": ["f", "m"]}}
    odd = {**grouped, "group_sizes": {"f": 101, "m": 99}}
    wanted = {"name": "q", "kind": "sum", "column": "x", "error": 17_000}
    coarser = by_name(study(series, wanted, odd, columns=SERIES | public))["coarser periods"]
    assert "data.n and group_sizes = the records that are kept" in coarser.change
    assert set(coarser.errors) == {"q", "m"}


def test_coarser_periods() -> None:
    """A correlation of .9 between neighbours is .81 at every second record."""
    wanted = {"name": "q", "kind": "sum", "column": "x", "error": 16_000}
    series = {"model": "autoregressive", "coefficient": 0.9, "length": 20, "covers": ["x"]}
    made = study(series, wanted, columns=SERIES)
    with pytest.raises(bdp.BudgetExceededError):
        made.check()
    row = by_name(made)["coarser periods"]
    assert "population.coefficient = 0.81, population.length = 10" in row.change
    assert "priced for the least, 100" in row.change
    coarser = {**series, "coefficient": 0.81, "length": 10}
    assert row.errors["q"][1] == error(study(coarser, wanted, columns=SERIES, n=100))
    chain = study(CHAIN, {**COUNT, "error": 35}, columns=SERIES)
    with pytest.raises(bdp.BudgetExceededError):
        chain.check()
    change = by_name(chain)["coarser periods"].change
    square = np.linalg.matrix_power(np.array(CHAIN["transition"]), 2).round(6).tolist()
    assert f"population.transition = {square}, population.length = 3" in change


def test_half_of_the_records_with_half_of_the_error_is_no_help() -> None:
    slow = {**CHAIN, "transition": [[0.95, 0.05], [0.05, 0.95]], "length": 30}
    assert "coarser periods" not in by_name(study(slow, COUNT, columns=SERIES))


def test_coarser_periods_of_a_chain_that_alternates_are_no_help() -> None:
    """Every second record is the first one again: such a chain has no single stationary law."""
    alternating = CHAIN | {"transition": [[0.0, 1.0], [1.0, 0.0]]}
    assert "coarser periods" not in by_name(study(alternating, COUNT, columns=SERIES))


def test_a_public_sample() -> None:
    name = "a public sample to learn the correlation"
    tenth = {"model": "gaussian", "size": 5, "max_correlation": 0.1, "covers": ["x"]}
    priced(study(FIVE, MEAN), name, study(tenth, MEAN))
    strong = {**tenth, "max_correlation": 0.4}
    priced(study(strong, MEAN), name, study({**strong, "max_correlation": 0.2}, MEAN))
    lower, upper = [[0.7, 0.1], [0.2, 0.6]], [[0.9, 0.3], [0.4, 0.8]]
    box = {"model": "markov", "transition_lower": lower, "transition_upper": upper}
    box |= {"length": 30, "covers": ["s"]}
    middle = {**CHAIN, "transition": [[0.8, 0.2], [0.3, 0.7]], "length": 30}
    priced(
        study(box, COUNT, columns=SERIES),
        "a public sample to learn the transitions",
        study(middle, COUNT, columns=SERIES),
    )
    unknown = {"model": "unknown", "records": 200, "covers": ["x"]}
    ten = {**FIVE, "size": 10}
    priced(study(unknown, MEAN), "knowing who depends on whom", study(ten, MEAN))
    # A count jumps: no correlation helps it.
    discrete = {**FIVE, "covers": ["s"]}
    assert name not in by_name(study(discrete, COUNT))


def test_a_weaker_adversary_is_named_only_where_it_is_honest() -> None:
    name = "a weaker adversary class"
    given = {"columns": SERIES, "n": 6, "epsilon": 8.0}
    counts = [{**COUNT, "name": f"k{i}"} for i in range(10)]
    made = study(CHAIN, *counts, **given)
    priced(made, name, study(CHAIN, *counts, **given, adversary="uninformed"))
    row = by_name(made)[name]
    assert row.change == 'budget.adversary = "uninformed" instead of "any"'
    assert "relatives" in row.condition
    assert name not in by_name(study(CHAIN, *counts, **given, adversary="uninformed"))
    for population in (FIVE, {**FIVE, "covers": ["s"]}):
        query = MEAN if population is FIVE else COUNT
        rows = study(population, query).what_would_help()
        assert "informed" not in str(rows)


def test_randomized_response_serves_many_counts_at_once() -> None:
    queries = [{**COUNT, "name": f"k{i}"} for i in range(40)]
    population = {"model": "clusters", "size": 3, "covers": ["s"]}
    made = study(population, *queries, n=40)
    row = by_name(made)["randomized response at collection"]
    cost = made.check().plan.dp_epsilon
    flip = RandomizedResponse.for_cost((0, 1), cost).flip
    deviation = math.sqrt(40 * flip * (1 - flip)) / (1 - 2 * flip)
    assert row.errors["k7"] == (error(made), pytest.approx(1.96 * deviation))
    assert f"flip = {flip:.4g}" in row.change
    # The deviation is that of estimates from answers.
    rng = np.random.default_rng(1)
    answers = rng.random((20_000, 40)) < np.where(np.arange(40) < 13, 1 - flip, flip)
    estimates = (answers.sum(axis=1) - 40 * flip) / (1 - 2 * flip)
    assert estimates.std() == pytest.approx(deviation, rel=0.03)
    assert "and 37 more" in row.price()
    # A single count with noise is better, and answers of two columns are another matter.
    assert "randomized response at collection" not in by_name(study(population, COUNT, n=40))


def test_nothing_is_proposed_for_independent_counts_or_the_notion_dp() -> None:
    independent = {"model": "independent", "covers": ["s"]}
    assert len(study(independent, COUNT).what_would_help()) == 0
    assert len(study(FIVE, MEAN, notion="dp").what_would_help()) == 0


def test_an_error_above_a_tenth_of_the_range_is_inaccurate() -> None:
    """In clusters of 5 at level .2 the cost is .04: a mean of n has an error of 7,490 / n."""
    for n, said in ((740, ["m"]), (760, [])):
        check = study(FIVE, MEAN, n=n).check()
        assert check.inaccurate == said
    discrete = {**FIVE, "covers": ["s"]}
    assert study(discrete, COUNT, SHARE, n=100).check().inaccurate == ["k", "share"]
    assert study(discrete, COUNT, SHARE, n=100_000).check().inaccurate == []
    assert study(FIVE, MEAN, n="from data").check().inaccurate == []


STUDY = """
[data]
source = "none.csv"
dataset = "d"
n = 200
columns = { g = { role = "cluster" }, x = { bounds = [0, 100] } }
[population]
model = "clusters"
size = 5
covers = ["x"]
[budget]
epsilon = 0.2
[[query]]
name = "m"
kind = "mean"
column = "x"
"""


def test_check_points_to_proposals_shows_and_lists_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    def run(*options: str, status: int = 0) -> str:
        result = CliRunner().invoke(app, ["check", "s.toml", *options])
        assert result.exit_code == status, result.output
        return " ".join(result.stdout.split())

    Path("s.toml").write_text(STUDY)
    pointer = "Some error is above a tenth of its range."
    assert f"{pointer} --verbose looks for what would help." in run()
    assert "What would help, each" not in run()
    shown = run("--verbose")
    assert pointer in shown
    assert "--verbose" not in shown  # it was given
    Path("dp.toml").write_text(STUDY.replace("[budget]", '[budget]\nnotion = "dp"'))
    no_help = CliRunner().invoke(app, ["check", "dp.toml", "--verbose"]).stdout
    assert ("Nothing was found that would help." in no_help) == (pointer in no_help)
    assert "Nothing was found" not in shown
    rows = bdp.Study.load("s.toml").what_would_help()
    assert len(rows) == 3
    for row in rows:
        for part in (row.name, row.price(), f"change: {row.change}", row.condition):
            assert " ".join(part.split()) in shown
    document = json.loads(CliRunner().invoke(app, ["check", "s.toml", "--json"]).stdout)
    assert [entry["errors"] for entry in document["what_would_help"]] == [
        [{"query": "m", "before": row.errors["m"][0], "after": row.errors["m"][1]}] for row in rows
    ]
    assert rows._repr_html_().count("<tr>") == 4
    Path("s.toml").write_text(STUDY.replace("n = 200", "n = 2000"))
    assert pointer not in run()
    assert "what_would_help" not in run("--json")
    Path("s.toml").write_text(STUDY + "error = 25\n")
    assert "What would help, each" in run(status=1)
    assert not Path("ledger.db").exists()


def test_sums_and_means_are_cheaper_alone() -> None:
    smooth = {"model": "gaussian", "size": 5, "max_correlation": 0.1, "covers": ["x"]}
    high = {"name": "high", "kind": "count", "where": "x > 50"}
    both = study(smooth, MEAN, high)
    row = by_name(both)["sums and means alone"]
    assert row.change == "leave 'high' out of this study"
    assert row.errors == {"m": (error(both), pytest.approx(error(study(smooth, MEAN))))}
    assert "sums and means alone" not in by_name(study(smooth, MEAN))
    assert "sums and means alone" not in by_name(study(FIVE, MEAN, high))
