"""What the population expects of a table: clusters, series, persons."""

from __future__ import annotations

from dataclasses import dataclass

from bayesdp.tables.checks.supports import RuledOut


@dataclass(frozen=True)
class Structure:
    """What the study and its population say of the records.

    `n` records, or None where it is read from the data; a record is a row (`unit="row"`) or all
    rows that share a value of the column `unit`, at most `rows_per_unit` of them, or exactly so
    many if it is `balanced`; with `max_rows` it may have more, and so many count, in an order that
    depends on the name of the `dataset`. At most `cluster_size` records are in a cluster and
    `series_length` steps in a series (None: no limit).
    Without a cluster or series column the whole table is one cluster or series. In a panel a
    cluster has several series, whose steps are counted from its first record: `panels` are pairs of
    the most series and the most steps, one of which holds for all clusters. `ruled_out` is what the
    population gives the probability 0; None where it rules nothing out.
    """

    n: int | None = None
    unit: str = "row"
    rows_per_unit: int | None = None
    max_rows: int | None = None
    dataset: str = ""
    balanced: bool = False
    cluster_size: int | None = None
    series_length: int | None = None
    several_series: bool = True
    panels: tuple[tuple[int, int], ...] = ()
    ruled_out: RuledOut | None = None
