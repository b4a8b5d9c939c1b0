"""Parameters of models: what must be above 0 is shown to be, before anything is released.

Privacy doesn't hang on it; but a prior that doesn't exist would be met after the cost was paid.
"""

from __future__ import annotations

from bayesdp.programs.ir import Expr
from tests.oracles.program_checker.intervals import Context, one_bound
from tests.oracles.program_checker.refusals import Rejected

POSITIVE = {
    "beta": ("beta's a", "beta's b"),
    "gamma": ("gamma's shape", "gamma's rate"),
    "normal": ("", "The standard deviation"),
}
"""What a prior's parameters are called where they must be above 0."""


def check_parameters(expr: Expr, context: Context) -> None:
    """Refuse a `prior` or `likelihood` with a parameter that may lie where the law has none.

    An exposure may be 0: then the posterior is the prior. Any other is above 0, but for means.
    """
    family = str(expr.data[0])
    if expr.op == "likelihood":
        named = ["The exposure" if family == "poisson" else "The standard deviation"]
    elif family == "dirichlet":
        named = ["A Dirichlet prior's number"] * len(expr.args)
    else:
        named = list(POSITIVE[family])
    for what, item in zip(named, expr.args, strict=False):
        low = one_bound(item, context).low
        at_zero = expr.op == "likelihood" and family == "poisson"
        if what and (low is None or low < 0 or (low == 0 and not at_zero)):
            raise Rejected(
                "prior",
                f"{what} may be {'below 0' if at_zero else '0 or less'} here.",
                item,
                f"Write max(x, {0 if at_zero else 1}) for this x, or hold the number of records by "
                "require(...).",
            )
