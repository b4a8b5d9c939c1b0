"""The replay of `test_replay` with many neighbours at a time: all are tables of one scan.

A public column, `copy`, tells the tables apart, and each query is asked by it too. Which rows of a
record count depends on its name, and in each table the replaced record has another; the others are
the same in all, whichever of their rows count. For a part of the tables the integers are computed
alone as well, the way of a release, and must be the same.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayesdp import Study
from bayesdp.release.price.plan import Plan, structure_of
from bayesdp.statements.queries import column_names
from bayesdp.tables.checks.record_rows import RowOrder
from bayesdp.tables.columns.column import Column
from bayesdp.tables.sums.scan import Total, Totals, run
from tests.effort import complete, in_full, runs
from tests.release.test_replay import (
    CELLS,
    OTHERS,
    OWN,
    RECORDS,
    Rng,
    Row,
    Spec,
    check_alone,
    due,
    folder,
    noised,
    paid,
    random_rows,
    row,
    some,
    study,
)

__all__ = ["due", "folder"]

TABLES = 37
STUDIES = 20
"""Of each kind of record: 8 kinds, 20 studies and 666 pairs of tables are 106,560 triples."""


def others(record: str, copy: int) -> list[Row]:
    """Records that contribute the same whatever they are called: their rows are all alike."""
    rng, spec = np.random.default_rng(7), RECORDS[record]
    rows = []
    for number, place in enumerate(OTHERS):
        cells = row(rng, OWN)
        if "wide" in spec:
            cells = {f"{name}_{part}": cell for name, cell in cells.items() for part in "ab"}
        named = {**cells, **place, "who": f"other {copy} {number}"}
        rows += [named] * (2 if "balanced" in spec else 1)
    return rows


def tables(rng: Rng, record: str, many: int) -> list[pd.DataFrame]:
    """Tables that differ in one record."""
    fixed = np.random.default_rng(11)
    kept = {f"{name}_b": some(fixed, CELLS[name]) for name in OWN} if record == "a part" else {}
    made = []
    for copy in range(many):
        first = {"who": f"first {copy}", "team": "red", "site": 2, **kept}
        own = [{**first, **cells} for cells in random_rows(rng, record)]
        made.append(pd.DataFrame([*own, *others(record, copy)]))
    return made


def shops_of(frame: pd.DataFrame, copy: int) -> pd.DataFrame:
    """The table with names of shops of its own: where a name is one, it begins with its number."""
    renamed = frame.copy()
    for name in renamed.columns:
        if str(name).startswith("shop"):
            renamed[name] = [shop_of(cell, copy) for cell in renamed[name]]
    return renamed


def shop_of(cell: Any, copy: int) -> Any:
    """A name of a shop as this copy has it; cells that are no name stay so."""
    if not isinstance(cell, str) or not 0 < len(cell.strip()) <= 100:
        return cell
    return cell.replace(cell.strip(), f"{copy:02d}{cell.strip()}")


def together(made: Study, plan: Plan, frames: list[pd.DataFrame]) -> list[np.ndarray[Any, Any]]:
    """For each query the integers of all tables, one after the other."""
    asked = [by_copy(query) for query in plan.queries]
    totals = totals_of(made, asked, frames, range(len(frames)), n=None)
    return [
        np.array(
            [noised(query, apart(query, totals[query.name], i)) for i in range(len(frames))],
            dtype=object,
        )
        for query in plan.queries
    ]


def by_copy(query: Any) -> Any:
    """What the engine is asked, for each copy; groups that are found have names of their copy."""
    asked = query.table_query()
    if query.asked.from_data is not None:
        return asked
    return replace(asked, by="copy" if asked.by is None else ("copy", *column_names(asked.by)))


def alone(made: Study, plan: Plan, frame: pd.DataFrame, copy: int) -> list[np.ndarray[Any, Any]]:
    """For each query the integers of one table, with the queries of a release.

    Which groups of a record count depends on their names, so those of `max_groups` are as above.
    """
    limited = [query.asked.spec.max_groups is not None for query in plan.queries]
    asked = [
        by_copy(query) if few else query.table_query()
        for query, few in zip(plan.queries, limited, strict=True)
    ]
    totals = totals_of(made, asked, [frame], [copy])
    counts = [
        apart(query, totals[query.name], copy)
        if few or query.asked.from_data is not None
        else list(totals[query.name].values.values())
        for query, few in zip(plan.queries, limited, strict=True)
    ]
    return [
        np.array(noised(query, values), dtype=object)
        for query, values in zip(plan.queries, counts, strict=True)
    ]


def totals_of(
    made: Study, asked: list[Any], frames: list[pd.DataFrame], copies: Any, **structure: Any
) -> Totals:
    """What the engine answers about these tables below each other, with a column of their numbers.

    All declared columns have a say in which rows of a record count, and so has this one.
    """
    tagged = [
        shops_of(frame, copy).assign(copy=copy) for frame, copy in zip(frames, copies, strict=True)
    ]
    made._data = replace(made._data, source=pd.concat(tagged, ignore_index=True))
    copied = Column(name="copy", public=True, states=tuple(range(TABLES)))
    columns = {**made.spec.columns, "copy": copied}
    return run(made._data.open(), columns, asked, replace(structure_of(made.spec), **structure))


def apart(query: Any, total: Total, copy: int) -> list[Any]:
    """The counts of a table by group; of groups that are found, those of all names."""
    if query.asked.from_data is not None:
        return counts_of_copy(total, copy)
    return [
        values
        for key, values in total.values.items()
        if (key[0] if isinstance(key, tuple) else key) == copy
    ]


def counts_of_copy(total: Total, copy: int) -> list[Any]:
    """The counts of all shops that a table may have."""
    assert {name[2:] for name in total.values} <= set("klm")
    return [total.values.get(f"{copy:02d}{name}", (0,)) for name in "klm"]


def furthest(query: Any, seen: np.ndarray[Any, Any], *, squared: bool) -> int:
    """The largest distance between two of the tables, as `test_replay.distance` has it."""
    moved = abs(seen[:, None] - seen[None, :])
    if query.asked.choice is not None:
        moved = moved.max(axis=3)
    moved = moved**2 if squared else moved
    return int(moved.reshape(len(seen) ** 2, -1).sum(axis=1).max())


def without_shops(asked: list[Spec]) -> list[Spec]:
    """The queries without conditions on shops, whose names are other ones here."""
    return [
        query | {"where": "ill == 1"} if "shop" in query.get("where", "") else query
        for query in asked
    ]


@pytest.mark.prove
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("record", RECORDS)
def test_of_many_neighbours_none_moves_more_than_is_paid_for(record: str, due: list[int]) -> None:
    rng = np.random.default_rng([2026, list(RECORDS).index(record)])
    many, triples = TABLES if in_full() else 9, 0
    for number in range(runs(STUDIES) if in_full() else 1):
        frames = tables(rng, record, many)
        made = study(rng, record, number, frames[0], without_shops)
        plan = paid(made, due)
        seen = together(made, plan, frames)
        case = (record, made.spec.queries, made.spec.budget)
        for query, kernels, values in zip(plan.queries, due, seen, strict=True):
            if query.asked.from_data is not None:
                for i in range(many):
                    for j in range(i):
                        check_alone(query, values[i], values[j])
            far = furthest(query, values, squared=plan.dp_rho > 0.0)
            assert far <= kernels <= query.sensitivity, (query.name, case)
        # Rows of a wide table are told apart by their numbers, which the first table alone keeps.
        copy = 0 if record == "a wide row" else int(rng.integers(many))
        plain = alone(made, plan, frames[copy], copy)
        for query, values, due_alone in zip(plan.queries, seen, plain, strict=True):
            assert (values[copy] == due_alone).all(), (query.name, case)
        triples += many * (many - 1) // 2
    if complete():
        assert triples * len(RECORDS) >= 100_000


@pytest.mark.usefixtures("folder")
def test_a_cap_that_is_not_applied_is_seen(due: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    frames = tables(rng, "any rows", 9)

    def capped(asked: list[Spec]) -> list[Spec]:
        count = {"name": "q0", "kind": "count", "where": "ill == 1", "max_rows": 1}
        return [count, *(query for query in asked if query["name"] == "shops")]

    made = study(rng, "any rows", 0, frames[0], capped)
    plan = paid(made, due)
    assert furthest(plan.queries[0], together(made, plan, frames)[0], squared=False) == due[0] == 1

    def with_mark(self: RowOrder, staged: Any, name: str, where: Any, *_: Any) -> Any:
        matched = staged.counts_ if where is None else (staged.counts_ & where).fill_null(False)
        return staged.mutate(**{name: matched, f"{name}here_": matched})

    monkeypatch.setattr(RowOrder, "with_mark", with_mark)
    assert furthest(plan.queries[0], together(made, plan, frames)[0], squared=False) == 2
