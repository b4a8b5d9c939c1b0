"""No certificate keeps a reader waiting: a verdict has its time, and long lists are read once."""

from __future__ import annotations

import copy
import itertools
import json
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest

from bayesdp import kernel
from bayesdp.errors import Refusal
from bayesdp.kernel import arithmetic, certificates
from bayesdp.kernel.arithmetic import TooSlowError, ball, limited, watched
from bayesdp.kernel.conversions import conversion
from bayesdp.kernel.costs.blocks import truth
from bayesdp.kernel.models import dependence, described
from bayesdp.kernel.models.joints import TooLargeError
from bayesdp.kernel.releases.row_counts import check_row_counts
from bayesdp.populations import parse
from bayesdp.release import Study
from bayesdp.release.certificates import derivation
from bayesdp.release.certificates.certify import conversion_certificate
from bayesdp.statements import read_columns, read_population
from bayesdp.statements.conditions import parse as parse_condition
from tests.kernel.statements import read_query


def work() -> None:
    for _ in range(64):
        ball(1)


def test_work_ends_after_its_time() -> None:
    with limited(0.0), pytest.raises(TooSlowError):
        work()
    for _ in range(200):  # outside, nothing is limited
        watched()


def test_the_shorter_of_two_limits_counts() -> None:
    with limited(0.0), limited(1e9), pytest.raises(TooSlowError):
        work()


def test_a_proof_that_takes_too_long_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(8).dirichlet(np.full(4, 3.0), size=4).tolist()
    population = parse({"model": "markov", "transition": rows, "length": 30})
    report = population.leakage(0.5)
    document = json.loads(conversion_certificate(population, report).to_json())
    assert kernel.check(document)
    monkeypatch.setattr(certificates, "MOST_SECONDS", 0.0)
    verdict = kernel.check(document)
    assert verdict.verdict == "UNKNOWN"
    assert "busy for too long" in verdict.reason


@pytest.mark.parametrize(
    ("error", "verdict"),
    [(MemoryError(), "UNKNOWN"), (RecursionError(), "UNKNOWN"), (AttributeError("x"), "INVALID")],
)
def test_what_the_machine_lacks_is_no_fault_of_a_certificate(
    error: Exception, verdict: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(certificates, "_assuming", Mock(side_effect=error))
    answer = kernel.check({})
    assert (answer.verdict, answer.step) == (verdict, "content")


def tied(correlation: float) -> list[list[float]]:
    """The covariance of 16 numbers, of which the first two are correlated."""
    rows = np.eye(16)
    rows[0, 1] = rows[1, 0] = correlation
    return rows.tolist()


def looked_at(monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    """The time is up when the clock was looked at so often."""
    looks = itertools.count()
    monkeypatch.setattr(arithmetic, "thread_time", lambda: float(next(looks)))
    monkeypatch.setattr(certificates, "MOST_SECONDS", limit)
    monkeypatch.setattr(conversion, "MOST_SECONDS", limit / 0.6)


def test_numbers_that_nobody_read_to_the_end_are_never_valid(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A family's last covariance isn't positive definite, which its last pivot alone shows."""
    members = [{"model": "gaussian", "covariance": tied(x)} for x in (0.5, -0.5, 0.25)]
    family = parse({"model": "family", "members": members})
    report = family.leakage(0.5, adversary="informed")
    right = json.loads(conversion_certificate(family, report).to_json())
    assert right["derivation"]["rule"] == "cluster-size"
    wrong = copy.deepcopy(right)
    for population in (wrong["population"], wrong["derivation"]["evidence"]["population"]):
        population["members"][2]["covariance"] = tied(1.5)
    wrong["assumptions"] = list(kernel.assumptions(wrong))

    seen: dict[str, list[str]] = {"right": [], "wrong": []}
    for limit in range(30):
        for name, document in (("right", right), ("wrong", wrong)):
            looked_at(monkeypatch, limit)
            seen[name].append(kernel.check(document).verdict)
        looked_at(monkeypatch, limit)
        with pytest.raises(kernel.InvalidError) as refused:
            kernel.certified_level(wrong["derivation"])
        assert "busy" in refused.value.reason or "definite" in refused.value.reason
    assert seen["right"] == sorted(seen["right"])  # UNKNOWN first
    assert set(seen["right"]) == {"UNKNOWN", "VALID ASSUMING"}
    assert set(seen["wrong"]) == {"UNKNOWN", "INVALID"}


def test_nothing_is_valid_after_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where no loop looks at the clock, or where what it raised was not passed on."""
    chain = parse({"model": "markov", "transition": [[0.8, 0.2], [0.4, 0.6]], "length": 9})
    document = json.loads(conversion_certificate(chain, chain.leakage(0.7)).to_json())
    assert kernel.check(document)
    monkeypatch.setattr(arithmetic, "watched", lambda: None)
    looked_at(monkeypatch, 0)
    assert kernel.check(document).verdict == "UNKNOWN"
    looked_at(monkeypatch, 0)
    with pytest.raises(TooSlowError):
        kernel.certified_level(document["derivation"])
    looked_at(monkeypatch, 1000)
    assert kernel.check(document)


def test_a_step_that_is_too_slow_is_not_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers that no level needs may be unknown, and a law too large: both only by their size."""
    population = read_population({"model": "gaussian", "covariance": tied(0.5)})
    described.check_numbers(population)
    with limited(0.0), pytest.raises(TooSlowError):
        described.check_numbers(population)

    table = [[1, 0], [0, 1]]
    edges = [{"between": [i, (i + 1) % 4], "table": table} for i in range(4)]
    cycle = read_population({"model": "graph", "records": 4, "states": 2, "factors": edges})
    assert dependence.mutual_independence(cycle) is False
    monkeypatch.setattr(dependence, "parts", Mock(side_effect=TooLargeError("large")))
    assert dependence.mutual_independence(cycle) is None
    for kind in (TooSlowError, kernel.UnknownError, kernel.InvalidError):
        monkeypatch.setattr(dependence, "parts", Mock(side_effect=kind("another reason")))
        with pytest.raises(kind, match="another reason"):
            dependence.mutual_independence(cycle)


def test_a_level_that_takes_too_long_to_prove_is_not_claimed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The next theorem is asked; what nobody can verify isn't put on a certificate."""

    def slow(step: dict[str, Any]) -> float:
        if step["rule"] == "markov-recursion":
            raise TooSlowError("slow")
        return proved(step)

    proved = kernel.certified_level
    monkeypatch.setattr(kernel, "certified_level", slow)
    derivation._certified.cache_clear()
    chain = parse({"model": "markov", "transition": [[0.8, 0.2], [0.4, 0.6]], "length": 9})
    report = chain.leakage(0.7)
    assert report.best.theorem == "markov-recursion"
    assert conversion_certificate(chain, report).derivation.rule != "markov-recursion"
    derivation._certified.cache_clear()


@pytest.mark.parametrize(
    ("slow", "refused"),
    [
        ({"markov-recursion"}, False),
        ({"markov-recursion", "markov-contraction", "markov-ratio"}, True),
    ],
)
def test_noise_that_grows_for_want_of_time_is_said_or_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, slow: set[str], refused: bool
) -> None:
    """A busy machine once released at a small part of the budget, without a word."""

    def hurried(step: dict[str, Any]) -> float:
        if step["rule"] in slow:
            raise TooSlowError("slow")
        return proved(step)

    days = list(range(40))

    def made() -> Study:
        return Study(
            pd.DataFrame({"day": days, "ill": [0, 1] * 20}),
            dataset="days",
            n=len(days),
            columns={"day": {"role": "order", "step": 1}, "ill": {"states": [0, 1]}},
            population={
                "model": "markov",
                "transition": [[0.8, 0.2], [0.4, 0.6]],
                "length": len(days),
                "covers": ["ill"],
                "source": "made up",
            },
            budget={"notion": "bdp", "epsilon": 1.0},
            queries=[{"name": "ill", "kind": "count", "where": "ill == 1"}],
            ledger=str(tmp_path / "ledger.db"),
        )

    best = made().check().plan
    proved = kernel.certified_level
    monkeypatch.setattr(kernel, "certified_level", hurried)
    derivation._certified.cache_clear()
    study = made()
    hurriedly = study.check().plan
    assert hurriedly.too_slow is not None
    assert set(hurriedly.too_slow.theorems) == slow
    growth = hurriedly.queries[0].error(0.95, None) / best.queries[0].error(0.95, None)
    assert hurriedly.too_slow.growth == pytest.approx(growth)
    assert (growth > 2.0) is hurriedly.too_slow.is_refused is refused
    if refused:
        with pytest.raises(Refusal, match=r"markov-recursion, .* times larger"):
            study.release()
        assert not study.ledger().path.exists()  # nothing was spent
    else:
        assert "markov-recursion" in study.release().remarks[0]

    # A busy moment passes: the same study is priced with every theorem again.
    monkeypatch.setattr(kernel, "certified_level", proved)
    assert study.check().plan.too_slow is None
    derivation._certified.cache_clear()


def test_long_lists_and_many_groups_are_read_once(tmp_path: Path) -> None:
    """Quadratic work would take minutes here, and the verdict would be UNKNOWN."""
    days = list(range(3000))
    study = Study(
        pd.DataFrame({"day": days, "x": 1.0}),
        dataset="days",
        n=len(days),
        columns={"day": {"public": True, "states": days}, "x": {"bounds": [0, 5]}},
        population={"model": "independent", "covers": ["x"], "source": "made up"},
        budget={"notion": "bdp", "epsilon": 1.0},
        queries=[
            {"name": "some", "kind": "mean", "column": "x", "where": f"day in {days[:1500]}"},
            {"name": "each", "kind": "mean", "column": "x", "by": "day"},
        ],
        ledger=str(tmp_path / "ledger.db"),
    )
    verdict = kernel.check(json.loads(study.release().certificate.to_json()))
    assert verdict.verdict == "VALID ASSUMING", verdict


@pytest.mark.parametrize(
    ("values", "value", "holds"),
    [
        ("[1, 2]", 1.0, True),
        ("[1, 2]", True, None),
        ("[True]", 1, None),
        ("[True]", True, True),
        ("['a', 'b']", "b", True),
        ("['a', 'b']", "c", False),
        ("['a', 'b']", "A", None),
        ("['a', 'b']", 1, None),
    ],
)
def test_lists_tell_kinds_apart(values: str, value: object, holds: bool | None) -> None:
    """Numbers, truth values and texts are of different kinds, whatever was asked before."""
    assert truth(parse_condition(f"x in {values}"), "x", value) is holds
    denied = None if holds is None else not holds
    assert truth(parse_condition(f"x not in {values}"), "x", value) is denied


def test_counts_of_parts_that_cross() -> None:
    """Of 4 rows 3 have a = 1 and 3 have b = 1: 2 or more have both."""
    declared = read_columns(
        {name: {"states": [0, 1], "public": True} for name in "ab"} | {"x": {"bounds": [0, 1]}}
    )

    def shown(both: int) -> list[tuple[Any, None, int]]:
        conditions = {"a == 1": 3, "b == 1": 3, "a == 1 and b == 1": both}
        return [
            (read_query({"name": where, "kind": "mean", "column": "x", "where": where}), None, rows)
            for where, rows in conditions.items()
        ]

    check_row_counts(shown(2), 4, declared, None)
    check_row_counts(shown(3), 4, declared, None)
    with pytest.raises(kernel.InvalidError, match="rows that cross"):
        check_row_counts(shown(1), 4, declared, None)
