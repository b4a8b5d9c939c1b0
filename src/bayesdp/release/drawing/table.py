"""The table of a study: opened as its `[data]` says, and held against its declaration.

Public name: `StudyTable`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from bayesdp.accounting.accounts.account import NOTHING_SPENT
from bayesdp.errors import InputError, TableError, TableMismatchError
from bayesdp.release.drawing.public_sizes import averages_of_nothing, other_group_sizes
from bayesdp.release.price.plan import Plan, structure_of
from bayesdp.release.programs.runs import program_findings
from bayesdp.release.reading.wide_tables import clusters_of_one
from bayesdp.release.spec.study import StudySpec
from bayesdp.tables.cells.joins import joined
from bayesdp.tables.cells.wide import melted
from bayesdp.tables.checks.findings import Finding, inspect
from bayesdp.tables.refusals import BY_CALL, BY_COMMAND, UnreadableCellsError, mismatch
from bayesdp.tables.source import Table, open_table
from bayesdp.tables.sums.left_out import left_out
from bayesdp.tables.sums.scan import Totals, run

T = TypeVar("T")


@dataclass(frozen=True)
class StudyTable:
    """Where the table of a study is: a path or URL relative to `folder`, or a table in memory.

    `has_file` is whether the study has a file, which commands can be given. It doesn't show the
    table: that would show rows.
    """

    spec: StudySpec
    source: object = field(repr=False)
    folder: Path
    has_file: bool

    def open(self) -> Table:
        """The table, made long and joined as the study says.

        Raises `InputError` for a study without a table, `TableError` for one that can't be read,
        and `UnreadableCellsError` where that depends on cells.
        """
        if self.source is None:
            raise InputError(
                "data.source",
                expected="the table: a file, URL or frame",
                remedy="Give it as the first argument of Study.",
                shown=False,
            )
        data, columns = self.spec.data, self.spec.columns
        table = open_table(self.source, self.folder, csv=data.csv, read=self._read())
        if data.wide is not None:
            table = melted(table, data.wide, columns)
        return joined(table, data.join, columns, self.folder)

    def _read(self) -> set[str]:
        """The columns that the study reads, by the names that they may have in its source."""
        data = self.spec.data
        names = {data.unit, *self.spec.columns}
        names.update(cell for column in self.spec.columns.values() for cell in column.cells)
        names.update(() if data.wide is None else data.wide.used)
        return names.union(*(join.left for join in data.join))

    @contextmanager
    def opened(self) -> Iterator[Table]:
        """The table, of which nothing is held once it was read, unless it was given opened."""
        table = self.open()
        with nullcontext(table) if isinstance(self.source, Table) else closing(table):
            yield table

    def totals(self, table: Table, plan: Plan) -> Totals:
        """The exact integers of a plan's queries, from the `table` as `opened`.

        Raises `TableMismatchError` for a table that is not as declared, or has groups of other
        sizes.
        """
        queries = plan.table_queries
        expected = replace(structure_of(self.spec), n=plan.n)
        totals = run(table, self.spec.columns, queries, expected)
        for sentence in averages_of_nothing(plan.queries, totals, self.spec.columns):
            raise TableMismatchError(f"{sentence} {NOTHING_SPENT}")
        for finding in other_group_sizes(
            plan.queries, totals
        ):  # of public columns, as everything before
            raise TableMismatchError(f"{finding.message} {NOTHING_SPENT}")
        return totals

    def findings(self, plan: Plan) -> list[Finding]:
        """All that is wrong with the table for this plan: for the curator only.

        Raises `InputError` for a study without a table, `TableError` for one that can't be read.
        """
        try:
            with self.opened() as table:
                return self._findings(table, plan)
        except UnreadableCellsError as error:
            return [error.finding]

    def _findings(self, table: Table, plan: Plan) -> list[Finding]:
        queries = plan.table_queries

        def look() -> list[Finding]:
            structure = structure_of(self.spec)
            findings = inspect(table, self.spec.columns, structure, queries)
            if not findings:
                totals = run(table, self.spec.columns, queries, structure)
                for sentence in averages_of_nothing(plan.queries, totals, self.spec.columns):
                    findings.append(Finding("empty-group", sentence))
                findings += other_group_sizes(plan.queries, totals)
            return findings

        findings = self.naming_inspect(look)
        for program in plan.programs if not findings else ():
            findings += program_findings(program, table, self.spec.columns, structure_of(self.spec))
        return findings

    @property
    def may_have_hints(self) -> bool:
        """Whether there are hints about such studies: of clusters, or records of several rows."""
        several = self.spec.data.unit != "row"
        return several or getattr(self.spec.population, "structure", "") == "cluster"

    def hints(self, plan: Plan) -> list[str]:
        """What the table suggests about the declaration: for the curator only."""
        structure = structure_of(self.spec)
        queries = plan.table_queries
        with self.opened() as table:
            return [
                *clusters_of_one(self.spec, table, structure),
                *left_out(table, self.spec.columns, structure, queries),
            ]

    def naming_inspect(self, look: Callable[[], T]) -> T:
        """What `look` finds in the table. Refusals name the call to inspect it, without a file.

        Cells that can't be read are refused as all that depends on cells: the kind of an error
        would tell something too. Raises `TableError`, and `TableMismatchError` for those.
        """
        refusal: TableError | TableMismatchError
        try:
            return look()
        except UnreadableCellsError:
            refusal = mismatch()
        except (TableError, TableMismatchError) as error:
            refusal = error
        if not self.has_file:
            refusal.args = (str(refusal).replace(BY_COMMAND, BY_CALL),)
        raise refusal  # outside of the handlers: it leads to nothing that was found
