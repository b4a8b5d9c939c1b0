"""What a certificate of a release declares: its data set, columns and population."""

from __future__ import annotations

from dataclasses import dataclass

from bayesdp.kernel.consistency import check_query, check_together
from bayesdp.kernel.reading import stated_columns, stated_population
from bayesdp.statements.certificates import ReleaseCertificate
from bayesdp.statements.column_sets import label
from bayesdp.statements.columns import Columns
from bayesdp.statements.populations import Population


@dataclass(frozen=True)
class Declaration:
    """The declarations of one certificate, which can all be so together.

    `covers` and `independent` are labels of the columns that the population is about, and of the
    private ones that are independent of all others; both are in order.
    """

    body: ReleaseCertificate
    population: Population | None
    columns: Columns
    covers: list[str]
    independent: list[str]

    @classmethod
    def read(cls, body: ReleaseCertificate) -> Declaration:
        """What this certificate declares. `InvalidError` where it contradicts itself."""
        population = None if body.population is None else stated_population(body.population)
        columns = stated_columns(body.columns)
        for step in body.derivation.composition.premises:
            check_query(step.evidence.query, columns)
        check_together(body, population, columns)
        names = population.covers if population is not None else ()
        covers = sorted(label(name, columns[name]) for name in names)
        independent = sorted(
            label(name, column)
            for name, column in columns.items()
            if column.independent and column.is_private
        )
        return cls(body, population, columns, covers, independent)

    @property
    def rows_per_record(self) -> int:
        """How many rows of a record count, at most."""
        return self.body.rows_per_record

    def of_the_table(self) -> Columns:
        """The columns whose cells the table itself has: none for sure where its rows have parts."""
        if self.body.parts is not None:
            return {}
        looked_up = {name for other in self.body.joined for name in other.columns}
        return {name: column for name, column in self.columns.items() if name not in looked_up}
