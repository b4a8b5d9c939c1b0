"""Many small tables in one scan, which takes as long as that of one of them.

A public column, `copy`, tells them apart, and each query is asked by it too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from bayesdp.release.price.plan import PlannedQuery
from bayesdp.statements.queries import column_names
from bayesdp.tables.columns.column import Column
from bayesdp.tables.source import open_table
from bayesdp.tables.sums.scan import run


def values_of_each(
    columns: Mapping[str, Column], queries: Sequence[PlannedQuery], frames: Sequence[pd.DataFrame]
) -> dict[str, list[list[Any]]]:
    """What the engine answers to each query, by its name: for each table the values by group.

    `columns` are those that a study declares, `queries` are planned, and `frames` are the tables.
    """
    copies = range(len(frames))
    table = pd.concat(
        [frame.assign(copy=copy) for copy, frame in zip(copies, frames, strict=True)],
        ignore_index=True,
    )
    copied = Column(name="copy", public=True, states=tuple(copies))
    asked = [_by_copy(query.table_query()) for query in queries]
    totals = run(open_table(table, Path()), {**columns, "copy": copied}, asked)
    answers: dict[str, list[list[Any]]] = {}
    for query in queries:
        answers[query.name] = [[] for _ in copies]
        for key, values in totals[query.name].values.items():
            copy = key[0] if isinstance(key, tuple) else key
            answers[query.name][int(copy)].append(values)
    return answers


def _by_copy(query: Any) -> Any:
    return replace(query, by="copy" if query.by is None else ("copy", *column_names(query.by)))
