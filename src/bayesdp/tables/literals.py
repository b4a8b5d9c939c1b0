"""Values of a study as literals of the data engine.

Public name: `literal`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayesdp.statements.columns import Value

if TYPE_CHECKING:
    import ibis.expr.types as ir


def literal(value: Value) -> ir.Scalar:
    """A literal for comparisons and arithmetic: numbers as exact doubles.

    A decimal literal would be read as DECIMAL and rounded twice; a cast text is rounded once.
    """
    import ibis

    if isinstance(value, bool | str):
        return ibis.literal(value)
    return ibis.literal(repr(float(value))).cast("float64")
