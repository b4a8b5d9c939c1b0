"""No certificate keeps a reader waiting: a verdict has its time, and long lists are read once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayesdp import kernel
from bayesdp.kernel import certificates
from bayesdp.kernel.arithmetic import TooSlowError, ball, limited, watched
from bayesdp.kernel.blocks import truth
from bayesdp.kernel.row_counts import check_row_counts
from bayesdp.populations import parse
from bayesdp.release import Study, derivation
from bayesdp.release.certify import conversion_certificate
from bayesdp.statements import read_columns
from bayesdp.statements.conditions import parse as parse_condition
from bayesdp.statements.queries import read_query


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
