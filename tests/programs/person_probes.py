"""Releases of programs about persons, and lies about who is a record and what it reads."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from bayesdp import kernel
from bayesdp.release import Study
from tests.kernel.test_forgeries import composed, renewed
from tests.kernel.test_keys import plain
from tests.programs.run.helpers import IMPORTS
from tests.release.test_persons_in_programs import COLUMNS, POPULATION, visits

Document = dict[str, Any]
TEXT = """
@record
class Visit:
    day: Int[0, 9]
    cost: Real[0, 100]
    ill: Bool
    site: Public[Category["a", "b"]]

@program
def total(visits: Database[Visit]) -> Private[Real]:
    people = group_by(visits, by="person", most=3)
    return laplace(sum(sum(v.cost for v in p if v.ill) for p in people), epsilon=1)
"""


@cache
def _released() -> str:
    folder = Path(mkdtemp(prefix="bayesdp-persons-"))
    (folder / "visits.py").write_text(IMPORTS + TEXT, encoding="utf-8")
    study = Study(
        visits(),
        dataset="visits",
        n=12,
        unit="person",
        max_rows=3,
        columns=COLUMNS,
        population=POPULATION,
        budget={"epsilon": 9.0},
        queries=[{"name": "total", "kind": "program", "program": f"{folder / 'visits.py'}:total"}],
        ledger=str(folder / "ledger.db"),
    )
    return json.dumps(plain(study.release().certificate))


def found_out(change: Callable[[Document], object]) -> None:
    """The kernel refuses the release with this change, and holds it valid without."""
    document: Document = json.loads(_released())
    change(document)
    assert document != json.loads(_released())
    said = kernel.check(renewed(document))
    assert said.verdict in ("INVALID", "UNKNOWN")
    assert said.step != "digest"


def of_program(document: Document) -> Document:
    """The step of the program."""
    steps = composed(document)["premises"]
    step: Document = next(step for step in steps if step.get("premises"))
    return step


def fewer_rows(document: Document) -> None:
    """Fewer rows of a person count in the study than in the program."""
    document["max_rows"] = 2
    said = document["assumptions"]
    said[2] = said[2].replace("at most 3 count", "at most 2 count")


def another_record(document: Document) -> None:
    """The program tells persons apart by something else than the study."""
    (own,) = of_program(document)["premises"]
    own["evidence"]["program"]["persons"]["by"] = "site"
    for said in (document["assumptions"], document["programs"][0]["assuming"]):
        said[:] = [words.replace("'person'", "'site'") for words in said]


def reads_less(document: Document) -> None:
    """The column that decides which rows count is not among what the program reads."""
    evidence = of_program(document)["evidence"]
    evidence["fields"].pop("ill")
    evidence["spends"][0]["reads"].remove("ill")
