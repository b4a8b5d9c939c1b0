"""What tells persons apart: keys that look different and are one, and keys that are none."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest

from bayesdp import kernel
from bayesdp.errors import TableMismatchError
from bayesdp.programs.certificate import program_certificate
from bayesdp.programs.check.checker import check
from bayesdp.programs.ir import Program
from bayesdp.programs.run.tables.loading import inspect_table, load
from bayesdp.programs.source import core_of, read_text
from tests.kernel.program_lies import lied, program_of
from tests.programs.run.helpers import IMPORTS
from tests.programs.test_persons import judged, text


def program(most: int = 1) -> Program:
    body = 'return laplace(sum(p.last(by="day").cost for p in people), epsilon=1)'
    return core_of(read_text(IMPORTS + text(body, most=most), "keys"), None, {})


def table(keys: pa.Array) -> pa.Table:
    """A row for each of the keys, of which the i-th costs i."""
    many = len(keys)
    columns: dict[str, Any] = {
        "day": [1] * many, "cost": [float(i) for i in range(many)], "ill": [False] * many,
        "state": ["well"] * many, "site": ["a"] * many,
    }  # fmt: skip
    return pa.table({"person": keys, **columns})


@pytest.mark.parametrize(
    ("keys", "costs"),
    [
        (pa.array([0.0, -0.0, 7.0]), ({0.0, 1.0}, {2.0})),
        (pa.array([7.0, -0.0, 0.0, 0.0]), ({1.0, 2.0, 3.0}, {0.0})),
        (pa.array(["b", "\u2003b", "b\u200b", "c"]), ({0.0, 1.0, 2.0}, {3.0})),
        (pa.array(["b", " b", "c"]).cast(pa.string_view()), ({0.0, 1.0}, {2.0})),
        (pa.array([2**53, 2**53 + 1, 2**53]), ({0.0, 2.0}, {1.0})),
    ],
)  # fmt: skip
def test_one_person_under_several_keys_is_one_record(
    keys: pa.Array, costs: tuple[set[float], ...]
) -> None:
    """Else a person would be as many records as keys, and each of them would be protected alone."""
    rows = load(program(), table(keys), dataset="d")
    assert rows.size == len(costs)
    for value, held in zip(rows.columns["last cost"].tolist(), costs, strict=True):
        assert value in held


@pytest.mark.parametrize(
    "keys",
    [
        pa.array(["b", " ", "c"]),
        pa.array(["b", "\u00a0\t", "c"]),
        pa.array(["b", " NA", "c"]),
        pa.array(["b", "", "c"]).cast(pa.string_view()),
        pa.array(["b", "NA", "c"]).dictionary_encode(),
        pa.array([1.0, float("nan"), 2.0]),
        pa.array([1, None, 2]),
    ],
)
def test_blanks_are_nobody(keys: pa.Array) -> None:
    """Rows without a person may be anybody's, who then has rows in two records."""
    with pytest.raises(TableMismatchError):
        load(program(), table(keys), dataset="d")
    assert [finding.code for finding in inspect_table(program(), table(keys))] == ["unit-missing"]


@pytest.mark.parametrize("by", ["day", "cost", "ill", "state"])
def test_a_private_column_tells_nobody_apart(by: str) -> None:
    """The number of its values would be told without noise."""
    grouped = text("return laplace(len(people), epsilon=1)").replace('by="person"', f'by="{by}"')
    verdict = judged(grouped)
    assert (verdict.verdict, verdict.code) == ("REJECTED", "private-parameter"), str(verdict)
    assert f"'{by}' is private" in str(verdict)
    core = program()
    assert core.persons is not None
    document = json.loads(program_certificate(core, check(core)).to_json())

    def forged(certificate: dict[str, Any]) -> None:
        program_of(certificate)["persons"]["by"] = by

    said = kernel.check(lied(document, forged))
    assert (said.verdict, said.step) == ("INVALID", "persons")
    assert "told apart" in said.reason
    assert judged(grouped.replace(f'by="{by}"', 'by="site"')).verdict == "ACCEPTED"


@pytest.mark.parametrize(
    "keys",
    [pa.array([[1], [1], [2]]), pa.array([{"a": 1}] * 3), pa.array([1, 2, 2], pa.float16())],
)
def test_keys_of_other_types_are_refused_in_the_words_for_all_cells(keys: pa.Array) -> None:
    with pytest.raises(TableMismatchError):
        load(program(), table(keys), dataset="d")
    assert [finding.code for finding in inspect_table(program(), table(keys))] == ["type"]
