"""Random programs of studies, replayed with one record replaced: no run loses more than is paid.

From the study's table through its real path (wide rows, derived columns, codes of missing values,
the rows of a person that count) to the scale that each sampler is given and the integers before
noise. Each release is held against its own price, and all of a program together against the spend
of a certificate that the kernel finds valid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayesdp import Study
from bayesdp.errors import InputError
from bayesdp.kernel import check
from bayesdp.programs.run.draws import noise as run_noise
from bayesdp.programs.run.draws.noise import NoiseCalibration
from bayesdp.programs.run.machine import machine as run_machine
from bayesdp.programs.run.tables import loading as run_table
from bayesdp.programs.run.tables import persons as run_persons
from bayesdp.programs.run.values import private as run_private
from bayesdp.release.price.plan import structure_of
from bayesdp.release.programs.planned import PlannedProgram
from bayesdp.release.programs.runs import program_rows
from bayesdp.release.spec.program_files import ProgramRefusedError
from tests.effort import in_full, runs
from tests.programs.run.helpers import IMPORTS
from tests.release.program_writer import ALL, Row, Spec, StudyWriter
from tests.release.replayed import Loss, losses, played, share, total, within
from tests.release.test_replay import LINE, PART, PERSON

OWN = ["x", "k", "j", "t", "w", "b", "g"]
WIDE = {
    "records": {name: [f"{name}_a", f"{name}_b"] for name in OWN},
    "position": {"name": "part", "values": ["a", "b"]},
}

RECORDS: dict[str, Spec] = {
    "any rows": {"unit": "who", "max_rows": 3, "columns": PERSON},
    "a row": {},
    "wide rows": {
        "wide": WIDE | {"row": "line"},
        "unit": "who",
        "max_rows": 3,
        "columns": PERSON | PART | LINE,
    },
    "few rows": {"unit": "who", "rows_per_unit": 3, "columns": PERSON},
    "a row of a series": {},
    "a part": {"wide": WIDE, "columns": PART},
    "two rows": {"unit": "who", "rows_per_unit": 2, "balanced": True, "columns": PERSON},
}
SIZES = {
    "any rows": [1, 2, 4, 5],
    "few rows": [1, 2, 3, 3],
    "two rows": [2],
    "wide rows": [1, 2, 3],
}
"""How many rows a person has in the table: of any rows, also more than count."""
BUDGET: Spec = {"notion": "dp", "epsilon": 1e6, "delta": 1e-6}
STUDIES, TABLES = 60, 9
"""Of each kind of record, and tables of each."""
MOST_REFUSED = 20
"""So many texts in a row are not refused by chance: rows that are the same number everywhere."""


@dataclass
class Made:
    """A study of a program, its plan, and what its certificate says that the program spends."""

    study: Study
    program: PlannedProgram
    certificate: Spec
    text: str
    refused: Sequence[str] = ()

    @property
    def spent(self) -> Loss:
        """What the certificate says that it costs."""
        claim = self.certificate["claim"]
        return Loss(Fraction(claim["dp_epsilon"]), Fraction(claim.get("dp_rho", 0)))

    def draws(self, frame: pd.DataFrame, script: list[Any]) -> tuple[list[Any], Any]:
        """What the samplers are given on a table, by the way of a release."""
        self.study._data = replace(self.study._data, source=frame)
        spec = self.study.spec
        with self.study._data.opened() as opened:
            rows = program_rows(self.program, opened, spec.columns, structure_of(spec))
        return played(self.program, rows, script, self.text)


# -- tables that differ in one record --------------------------------------------------------------


def wide(cells: Row, other: Row) -> Row:
    """Two records in a row."""
    return {f"{name}_a": cells[name] for name in OWN} | {f"{name}_b": other[name] for name in OWN}


def own_rows(writer: StudyWriter, record: str) -> list[Row]:
    """The rows of one record; of a part of a row, its own cells."""
    if record == "a part":
        return [{f"{name}_a": cell for name, cell in writer.cells().items()}]
    size = writer.random.choice(SIZES.get(record, [1]))
    alike = writer.cells()
    rows = [alike if writer.random.random() < 0.3 else writer.cells() for _ in range(size)]
    return [wide(row, writer.cells()) for row in rows] if record == "wide rows" else rows


def tables(writer: StudyWriter, record: str, many: int) -> Iterator[pd.DataFrame]:
    """Tables that differ in the first record, with the same others in all."""
    place = {"s": writer.random.choice("nm"), "z": writer.random.random() < 0.7}
    first: Row = {"who": "first", **place}
    others = []
    for i in range(8):
        cells = (
            wide(writer.cells(), writer.cells()) if "wide" in RECORDS[record] else writer.cells()
        )
        others.append({"who": f"p{i // 2}", "s": "nm"[i // 2 % 2], "z": i < 4, **cells})
    if record == "a part":
        first |= {f"{name}_b": cell for name, cell in writer.cells().items()}
    order = writer.random.randrange(2**31)  # of records that are rows the same in all tables
    for _ in range(many):
        frame = pd.DataFrame([*({**first, **row} for row in own_rows(writer, record)), *others])
        if writer.series:
            frame["q"] = ["l", *"lllrrlrl"]
            frame["m"] = [6, 5, 7, 1, 2, 3, 9, 4, 8]
        if record not in ("wide rows", "a part"):
            frame = frame.sample(frac=1.0, random_state=order)
        yield frame


def released(text: str, folder: Path, frame: pd.DataFrame, **given: Any) -> Made:
    """A study of the program `f` of a `text`, released; `given` is of the study.

    The file is in the `folder`. Raises what refuses the program, with nothing spent.
    """
    (folder / "asked.py").write_text(text, encoding="utf-8")
    fields = given.pop("fields", {})
    program = {"program": f"{folder / 'asked.py'}:f", "columns": fields}
    study = Study(
        frame,
        queries=[{"name": "asked", "kind": "program", **program}],
        **({"dataset": "replayed", "budget": BUDGET} | given),
    )
    release = study.release(again=True)
    document = release.certificate.to_dict()
    assert check(document).verdict == "VALID ASSUMING", text
    (planned,) = study._plan(release.certificate.body["n"]).programs
    return Made(study, planned, document, text)


def made(
    writer: StudyWriter, record: str, kind: str, folder: Path, frame: pd.DataFrame, **more: Any
) -> Made:
    """A study of the `frame` that has been released, with a random program of a `kind`.

    Files and the ledger are in the `folder`; a `record` is in `RECORDS`, and `more` is of the
    study. What is refused costs nothing, and the `writer` has another text.
    """
    given = {"ledger": str(folder / f"{len(list(folder.glob('*.db')))}.db")}
    given |= RECORDS[record] | more
    columns = writer.columns() | given.get("columns", {})
    refused: list[str] = []
    while len(refused) < MOST_REFUSED:
        text = writer.text(writer.block(kind))
        try:
            asked = released(
                text, folder, frame, **(given | {"columns": columns, "fields": writer.fields()})
            )
        except (InputError, ProgramRefusedError) as error:
            refused.append(f"{error}\n{text}")
            continue
        return replace(asked, refused=refused)
    raise AssertionError("\n".join(refused))


def writer_for(record: str, *seed: object) -> StudyWriter:
    """A writer of programs about records of this kind."""
    data = RECORDS[record]
    most = data.get("max_rows", data.get("rows_per_unit")) if "unit" in data else None
    return StudyWriter((record, *seed), most, series=record == "a row of a series")


# -- the replay ------------------------------------------------------------------------------------


def told_apart(asked: Made, frames: Sequence[pd.DataFrame]) -> list[list[tuple[Any, Loss]]]:
    """Of each pair of tables, what each release tells of them, at the same outcomes."""
    script: list[Any] = []
    seen = [asked.draws(frame, script) for frame in frames]
    assert all(shown == seen[0][1] for _, shown in seen), asked.text
    return [list(losses(first, second)) for (first, _), (second, _) in combinations(seen, 2)]


def replayed(writer: StudyWriter, record: str, kind: str, folder: Path) -> tuple[Made, list[float]]:
    """A program of a `kind` in a study, and how much of its cost each pair of neighbours uses.

    A `record` is in `RECORDS`; `writer` writes the program, and files are in the `folder`.
    """
    frames = list(tables(writer, record, TABLES if in_full() else 3))
    asked = made(writer, record, kind, folder, frames[0])
    debited = [Loss(Fraction(item.dp_epsilon), Fraction(item.rho)) for item in asked.study.spends()]
    assert asked.spent == total(debited)
    shares = []
    for used in told_apart(asked, frames):
        for draw, loss in used:
            assert within(loss, draw.price), (draw.release, asked.text)
        whole = total([loss for _, loss in used])
        assert within(whole, asked.spent), asked.text
        shares.append(share(whole, asked.spent))
    return asked, shares


@pytest.mark.prove
@pytest.mark.parametrize("record", RECORDS)
def test_no_replaced_record_is_told_for_more_than_its_price(record: str, tmp_path: Path) -> None:
    kinds = [kind for kind in ALL if kind != "transitions"]
    if record == "a row of a series":
        kinds = ["transitions", "pieces"]
    refused, shares, tried = 0, [0.0], runs(STUDIES) if in_full() else 1
    start = 4 * list(RECORDS).index(record)
    for number in range(tried):
        writer = writer_for(record, number)
        asked, used = replayed(writer, record, kinds[(start + number) % len(kinds)], tmp_path)
        refused += len(asked.refused)
        shares += used
    assert max(shares) <= 1.0
    if in_full():
        assert refused <= tried
        assert max(shares) > 0.9


# -- faults that are planted -----------------------------------------------------------------------

HEAD = """
@record
class P:
    x: Real[0, 1]
    b: Bool
    g: Category["a", "b", "c"]

@program
def f(rows: Database[P]) -> Private[Real]:
    people = group_by(rows, by="who", most=2)
"""
TEXTS = {
    "total": "return laplace(sum(sum(v.x for v in p) for p in people), epsilon=1)",
    "table": 'n = laplace(sum(onehot(p.last(by="x").g) for p in people), epsilon=1)\n'
    "    return n[0]",
    "gaussian": "return gaussian(sum(clip(sum(v.x for v in p), 0, 1) for p in people), "
    "epsilon=1, delta=1e-6)",
    "search": "return above_threshold((count(p for p in people if any(v.x > c for v in p)) "
    "for c in (0.2, 0.5)), threshold=2, epsilon=1)",
}


def of_persons(name: str, folder: Path) -> tuple[Made, list[pd.DataFrame]]:
    """A study of a program in `TEXTS`, and tables that differ in one person; files in `folder`."""

    def rows(who: str, *cells: float) -> list[Row]:
        return [{"who": who, "x": x, "b": x > 0.5, "g": "ab"[x > 0.5]} for x in cells]

    others = [*rows("p", 0.5, 0.75), *rows("q", 1.0, 0.0, 0.5)]
    persons = [(0.0,), (1.0, 1.0, 1.0, 1.0), (1.0, 1.0)]
    frames = [pd.DataFrame([*rows("first", *cells), *others]) for cells in persons]
    columns = PERSON | {
        "x": {"bounds": [0, 1]},
        "b": {"states": [False, True]},
        "g": {"states": list("abc")},
    }
    given = {"unit": "who", "max_rows": 3, "columns": columns, "ledger": str(folder / "l.db")}
    return released(IMPORTS + HEAD + f"    {TEXTS[name]}\n", folder, frames[0], **given), frames


def excess(asked: Made, frames: Sequence[pd.DataFrame]) -> bool:
    """Whether some pair of tables is told apart for more than its price."""
    return any(
        not within(total([loss for _, loss in used]), asked.spent)
        or any(not within(loss, draw.price) for draw, loss in used)
        for used in told_apart(asked, frames)
    )


def unbounded(patch: pytest.MonkeyPatch) -> None:
    """Neither folds nor steps are held inside the bounds that the price is for.

    Where they are, more rows than count change nothing: that is why both are.
    """

    def whole(values: Any, _: Any, step: Fraction) -> tuple[Any, Fraction]:
        return np.rint(values * float(1 / step)).astype(np.int64), Fraction(0)

    patch.setattr(run_persons, "inside", lambda _: (-np.inf, np.inf))
    patch.setattr(run_private, "steps_of", whole)


def without_cap(patch: pytest.MonkeyPatch) -> None:
    """All rows of a person count."""
    grouped = run_table.grouped

    def all_of_them(program: Any, persons: Any, rows: Any, keys: Any, places: Any) -> Any:
        return grouped(program, persons, rows, keys, 0 * places)

    patch.setattr(run_table, "grouped", all_of_them)


def with_less_noise(patch: pytest.MonkeyPatch) -> None:
    """A sensitivity that is too small by one."""
    patch.setattr(NoiseCalibration, "move", lambda self, slack: self.sensitivity - 1 + slack)


def with_less_sigma(patch: pytest.MonkeyPatch) -> None:
    """A standard deviation that is too small by a hundredth."""
    noisy_steps = run_machine.noisy_steps

    def less(*given: Any) -> tuple[Any, float]:
        steps, scale = noisy_steps(*given)
        return steps, scale * 0.99

    patch.setattr(run_machine, "noisy_steps", less)


def with_one_noise(patch: pytest.MonkeyPatch) -> None:
    """Queries above a threshold get as little noise as the threshold."""
    patch.setattr(run_noise, "OF_QUERY", run_noise.OF_THRESHOLD)


FAULTS: dict[str, tuple[str, Callable[[pytest.MonkeyPatch], None]]] = {
    "a cap that is not applied": ("total", without_cap),
    "a sensitivity that is too small by one": ("table", with_less_noise),
    "a sigma that is too small": ("gaussian", with_less_sigma),
    "noise of a search that is too small": ("search", with_one_noise),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_seen(fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name, plant = FAULTS[fault]
    asked, frames = of_persons(name, tmp_path)
    if plant is without_cap:
        unbounded(monkeypatch)
    assert not excess(asked, frames)
    plant(monkeypatch)
    assert excess(asked, frames)


def test_a_most_that_is_too_small_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row more counts than the price is for: alone the bounds hold it."""
    asked, frames = of_persons("total", tmp_path)
    core = asked.program.core
    assert core.persons is not None
    more = replace(core, persons=replace(core.persons, most=core.persons.most + 1))
    fault = replace(asked, program=replace(asked.program, core=more))
    assert not excess(fault, frames)
    unbounded(monkeypatch)
    assert not excess(asked, frames)
    assert excess(fault, frames)
