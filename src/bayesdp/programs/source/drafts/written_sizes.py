"""How large values are when they are written out: shared parts count each time."""

from __future__ import annotations

from bayesdp.programs.ir import Expr
from bayesdp.programs.source.drafts.values import (
    Data,
    Dictionary,
    Items,
    LoweredValue,
    ModelObject,
    Scalar,
)


class PartCounts:
    """The sizes of values when written out. Each expression is looked at once."""

    def __init__(self) -> None:
        # The expression is kept, so that its id stays its own.
        self.counted: dict[int, tuple[Expr, int]] = {}

    def of(self, value: LoweredValue) -> int:
        """The number of operations in a value."""
        if isinstance(value, Scalar | ModelObject):
            return self.expression(value.expr)
        if isinstance(value, Items):
            return 1 + sum(self.of(entry) for entry in value.items)
        if isinstance(value, Dictionary):
            return 1 + sum(self.of(entry) for entry in value.values)
        if isinstance(value, Data):
            row = value.row
            return self.expression(value.filter) + (
                self.of(row) if isinstance(row, Scalar | Items) else 1
            )
        return 1

    def expression(self, expr: Expr) -> int:
        """The number of operations in an expression."""
        before = self.counted.get(id(expr))
        if before is not None:
            return before[1]
        size = 1 + sum(self.expression(part) for part in expr.args)
        self.counted[id(expr)] = (expr, size)
        return size
