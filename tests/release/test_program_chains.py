"""Programs that count transitions, in studies of chains and of other populations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayesdp import kernel
from bayesdp.errors import InputError, UnsupportedError
from bayesdp.programs.dependence import CHAIN, IGNORED, OTHER
from bayesdp.programs.run.posteriors.chains import APART, ORDER
from bayesdp.release import Study
from bayesdp.release.price.plan import make_plan
from tests.release.program_studies import asks, study

MONTHS = """@record
class Month:
    site: Public[Category["n", "s"]]
    month: Public[Int[1, 240]]
    busy: Category["yes", "no"]


@program
def counts(months: Database[Month]) -> Private[Vector]:
    return laplace(transition_counts(months.busy, order="month", by="site"), epsilon=1 / 2)


@program
def chain(months: Database[Month]) -> Private[Samples]:
    n = laplace(transition_counts(months.busy, order="month", by="site"), epsilon=1 / 2)
    return noise_aware(observe(n, markov_chain, prior=dirichlet(1, 1)))


@program
def mean(months: Database[Month]) -> Private[tuple[Samples, Beta]]:
    n = laplace(transition_counts(months.busy, order="month", by="site"), epsilon=1 / 2)
    law = noise_aware(observe(n, markov_chain, prior=dirichlet(1, 1)))
    shares = observe((m.busy == "yes" for m in months), bernoulli, prior=beta(1, 1))
    return law, noise_aware(laplace(statistics(shares), epsilon=1 / 2))
"""
DECLARED = MONTHS.replace("dirichlet(1, 1))", 'dirichlet(1, 1), dependence="declared")')
TABLE = {
    "site": ["n"] * 6 + ["s"] * 6,
    "month": [1, 2, 3, 4, 5, 6] * 2,
    "busy": ["yes", "yes", "yes", "no", "no", "yes"] * 2,
}
COLUMNS: dict[str, Any] = {
    "site": {"role": "series"},
    "month": {"role": "order", "step": 1},
    "busy": {"states": ["yes", "no"]},
}
MARKOV = {
    "model": "markov", "transition": [[0.9, 0.1], [0.2, 0.8]], "length": 6, "covers": ["busy"],
    "source": "made up",
}  # fmt: skip
CLUSTERS = {"model": "clusters", "size": 6, "covers": ["busy"], "source": "made up"}


def months(folder: Path, *names: str, text: str = MONTHS, **more: Any) -> Study:
    folder.mkdir(exist_ok=True)
    given = {
        "table": TABLE, "columns": COLUMNS, "population": MARKOV, "n": 12,
        "budget": {"epsilon": 40.0}, **more,
    }  # fmt: skip
    return study(folder, *map(asks, names), text=text, **given)


@pytest.mark.parametrize("text", [MONTHS, DECLARED])
def test_a_chains_posterior_in_a_study_of_chains(tmp_path: Path, text: str) -> None:
    made = months(tmp_path, "counts", "chain", text=text)
    made.check()
    result = made.release()
    counted = result["counts"]
    assert len(counted.value) == 4
    assert "yes -> no" in str(counted.to_dict())
    law = result["chain"].value
    assert law.notes == (ORDER, APART, CHAIN)
    assert law.names[:2] == ("yes -> yes", "yes -> no")
    certificate = result.certificate
    said = kernel.check(json.loads(certificate.to_json()))
    assert said.verdict == "VALID ASSUMING", said
    assert result["chain"].to_dict()["outputs"][0]["notes"] == [ORDER, APART, CHAIN]


def test_other_populations_are_noted_or_refused(tmp_path: Path) -> None:
    other = {"population": CLUSTERS, "columns": {**COLUMNS, "site": {"role": "cluster"}}}
    other["columns"]["month"] = {"public": True}
    result = months(tmp_path / "a", "chain", **other).release()
    assert result["chain"].value.notes[-1] == OTHER
    with pytest.raises(UnsupportedError, match="a markov population of order 1"):
        months(tmp_path / "b", "chain", text=DECLARED, **other).check()
    assert not (tmp_path / "b" / "ledger.db").exists()


def test_models_of_independent_records_beside_a_chain_say_so(tmp_path: Path) -> None:
    (program,) = make_plan(months(tmp_path, "mean").spec).programs
    assert program.remark == (IGNORED,)
    law, share = months(tmp_path, "mean").release()["mean"].value
    assert law.notes[-1] == CHAIN
    assert share.notes[-1] == IGNORED


def test_no_note_without_dependence(tmp_path: Path) -> None:
    independent = {"model": "independent", "covers": ["busy"]}
    columns = {**COLUMNS, "site": {"public": True}, "month": {"public": True}}
    result = months(tmp_path, "chain", population=independent, columns=columns).release()
    assert result["chain"].value.notes == (ORDER, APART)


def test_a_private_order_is_refused(tmp_path: Path) -> None:
    columns = {**COLUMNS, "site": {"public": True}, "month": {"bounds": [1, 240]}}
    independent = {"model": "independent", "covers": ["busy", "month"]}
    with pytest.raises(InputError, match="a public column: the program takes 'month'"):
        months(tmp_path, "chain", population=independent, columns=columns).check()


def test_rows_that_share_a_month_are_refused_with_nothing_spent(tmp_path: Path) -> None:
    twice = {**TABLE, "month": [1, 2, 3, 4, 5, 5, 1, 2, 3, 4, 5, 6]}
    columns = {**COLUMNS, "site": {"public": True}, "month": {"public": True}}
    independent = {"model": "independent", "covers": ["busy"]}
    made = months(tmp_path, "chain", table=twice, columns=columns, population=independent)
    with pytest.raises(InputError, match="2 rows that have theirs together"):
        made.release()
    assert not (tmp_path / "ledger.db").exists()


def test_the_order_of_rows_counts_for_nothing(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    order = rng.permutation(12)
    mixed = {name: [cells[i] for i in order] for name, cells in TABLE.items()}
    columns = {**COLUMNS, "site": {"public": True}, "month": {"public": True}}
    independent = {"model": "independent", "covers": ["busy"]}
    much = MONTHS.replace("epsilon=1 / 2", "epsilon=200")
    result = months(
        tmp_path, "counts", text=much, table=mixed, columns=columns, population=independent,
        budget={"epsilon": 400.0},
    ).release()  # fmt: skip
    assert tuple(result["counts"].value) == (4, 2, 2, 2)
