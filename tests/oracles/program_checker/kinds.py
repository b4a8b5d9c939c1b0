"""What is asked about single values: which kind of release they make, whether they are whole."""

from __future__ import annotations

from fractions import Fraction

from bayesdp.programs.ir import Expr
from tests.oracles.program_checker.intervals import Context, Interval, of_type, one_bound
from tests.oracles.program_checker.rows import whole_row
from tests.oracles.program_checker.sensitivity import AdjacencyContext, constant_of, is_private

Kind = tuple[str, str, tuple[Fraction, Fraction] | None]
ANY: Kind = ("any", "", None)


def lipschitz(expr: Expr, world: AdjacencyContext) -> tuple[str, tuple[Fraction, Fraction]] | None:
    """The column and interval if the value is a multiple of sum(clip(column)) over all records."""
    if world.adjacency != "replace-one":
        return None
    if expr.op in ("mul", "div", "neg"):
        private = [argument for argument in expr.args if is_private(argument, world)]
        return lipschitz(private[0], world) if len(private) == 1 else None
    if expr.op != "sum":
        return None
    data = expr.args[0]
    if data.data[0] or data.args[0] != Expr("const", (), (True,)):
        return None
    value, inside = data.args[1], None
    if value.op == "clip":
        low, high = constant_of(value.args[1]), constant_of(value.args[2])
        if low is None or high is None:
            return None
        value, inside = value.args[0], (low, high)
    if value.op != "field":
        return None
    kind = world.context.columns[str(value.data[0])]
    if kind.kind not in ("real", "int") or kind.public:
        return None
    declared = of_type(kind)
    assert declared.low is not None
    assert declared.high is not None
    low, high = inside or (declared.low, declared.high)
    low, high = max(low, declared.low), min(high, declared.high)
    # A clip outside the declared bounds makes a constant: it moves with nothing.
    return (str(value.data[0]), (low, high)) if low < high else None


def candidate_bounds(candidates: Expr, context: Context) -> Interval:
    """Where numeric candidates lie."""
    if candidates.op == "values":
        parts = [one_bound(argument, context) for argument in candidates.args]
        lows = [part.low for part in parts if part.low is not None]
        highs = [part.high for part in parts if part.high is not None]
        return (
            Interval(min(lows), max(highs)) if len(lows) == len(parts) == len(highs) else Interval()
        )
    if candidates.op in ("linspace", "range"):
        low, high = (one_bound(argument, context) for argument in candidates.args[:2])
        ends = [low.low, low.high, high.low, high.high]
        known = [end for end in ends if end is not None]
        return Interval(min(known), max(known)) if len(known) == len(ends) else Interval()
    return Interval()


def whole(expr: Expr, world: AdjacencyContext) -> bool:
    """Whether the value is a whole number: sums of Bool and Int columns."""
    if expr.op == "count":
        return True
    if expr.op == "sum":
        return whole_row(expr.args[0].args[1], world.context)
    if expr.op in ("add", "sub", "neg", "mul"):
        return all(whole(argument, world) for argument in expr.args)
    value = constant_of(expr)
    return value is not None and value.denominator == 1
