"""Columns that a program reads in what it returns only, or in what it requires."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from bayesdp import kernel
from bayesdp.errors import InputError
from tests.release.program_studies import asks, study
from tests.release.test_program_certificates import step_of

TEXT = """@record
class Person:
    height: Real[100, 230]
    smokes: {smokes}
    region: Public[Category["north", "south"]]


@program
def leak(people: Database[Person]) -> Private[tuple[Real, Int]]:
    total = laplace(sum(clip(p.height, 150, 190) for p in people), epsilon=1 / 4)
    return total, count(p for p in people if {condition})
"""


def test_a_public_column_may_be_returned(tmp_path: Path) -> None:
    text = TEXT.format(smokes="Bool", condition='p.region == "north"')
    done = study(tmp_path, asks("leak"), text=text).release()
    assert done.programs[0].outputs[1] == 4
    document = json.loads(done.certificate.to_json())
    assert kernel.check(document).verdict == "VALID ASSUMING"
    assert "region" in step_of(document)["evidence"]["fields"]


def test_a_protected_column_is_not_public_for_being_returned_only(tmp_path: Path) -> None:
    text = TEXT.format(smokes="Public[Bool]", condition="p.smokes")
    with pytest.raises(InputError, match="public column"):
        study(tmp_path, asks("leak"), text=text).release()
    ledger = tmp_path / "ledger.db"
    if ledger.exists():
        actual = sqlite3.connect(ledger)
        debits = actual.execute("select count(*) from entries where kind = 'release'")
        assert debits.fetchone() == (0,)
        actual.close()
