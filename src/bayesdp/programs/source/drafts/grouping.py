"""How a program groups its rows into records, and the columns that are made of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from bayesdp.kernel.programs.ranges import AdjacencyContext, Range
from bayesdp.kernel.programs.reading import Program as Rules
from bayesdp.programs.ir import Expr, Persons, RowFold, Type
from bayesdp.programs.source.drafts.values import (
    TRUE,
)


@dataclass
class RowGrouping:
    """How a program groups its rows, and the columns that it has made of them so far."""

    by: str
    most: int
    rows: tuple[tuple[str, Type], ...]
    types: dict[str, Type] = field(default_factory=dict)
    folds: dict[str, RowFold] = field(default_factory=dict)

    def persons(self) -> Persons:
        """The grouping as the representation has it."""
        return Persons(self.by, self.most, self.rows, tuple(self.folds.items()))

    def record(self, read: frozenset[str]) -> tuple[tuple[str, Type], ...]:
        """The columns of the record: those that are `read`, or how many rows there are."""
        self.folds = {name: fold for name, fold in self.folds.items() if name in read}
        if not self.folds:
            kind = Type("int", Fraction(1), Fraction(self.most))
            self.column("rows", RowFold("count", TRUE, TRUE), kind)
        return tuple((name, self.types[name]) for name in self.folds)

    def column(self, name: str, fold: RowFold, kind: Type) -> tuple[str, Type]:
        """The column that is this fold, under a name like `name`, and its type."""
        for known, held in self.folds.items():
            if held == fold:
                return known, self.types[known]
        names = (name, *(f"{name} ({i})" for i in range(2, len(self.folds) + 3)))
        free = next(each for each in names if each not in self.folds)
        self.folds[free], self.types[free] = fold, kind
        return free, kind

    def range_of(self, expr: Expr) -> Range:
        """Where a value of one row lies. Raises `InvalidError` for what may have no value."""
        columns: Any = dict(self.rows)  # kinds and bounds are all that ranges read
        program = Rules("replace-one", columns, (), (), (), None, None, "", "", {}, ())
        return AdjacencyContext(program, Range(Fraction(1)), "replace-one").range(expr)
