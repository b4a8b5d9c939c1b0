"""Whether a number tells anything: its error beside the range that the answer can have.

A count lies between 0 and the number of records, a mean within the column's bounds, a sum within
as many times the bounds as there are rows. Where only the data tell how many rows an answer is
over, nothing is said.
"""

from __future__ import annotations

import math

from bayesdp.errors import first_names
from bayesdp.release.price.plan import CONFIDENCE, Plan, PlannedQuery

USEFUL = 0.1
"""An error at 95 % above this share of the range that the answer can have is not useful."""


def inaccurate(plan: Plan) -> list[str]:
    """The queries whose error at 95 % is more than a tenth of the range of the answer."""
    return [query.asked.spec.name for query in plan.queries if _share(plan, query) > USEFUL]


def useless(plan: Plan) -> list[str]:
    """A warning that names the queries whose error at 95 % is as large as the answer's range.

    Empty where there are none.
    """
    names = [query.asked.spec.name for query in plan.queries if _share(plan, query) >= 1.0]
    if not names:
        return []
    listed = first_names([f"'{name}'" for name in names])
    return [f"The noise is larger than everything the answer could be: {listed}."]


def _share(plan: Plan, query: PlannedQuery) -> float:
    """The error as a share of the range; 0 where one of them isn't known."""
    ends, error = _range(plan, query), _error(plan, query)
    return 0.0 if ends is None or error is None else error / (ends[1] - ends[0])


def _error(plan: Plan, query: PlannedQuery) -> float | None:
    return query.error(CONFIDENCE, query.asked.rows(plan.n))


def _range(plan: Plan, query: PlannedQuery) -> tuple[float, float] | None:
    """The ends of the range that a number of the query can have; `None` where they aren't known."""
    asked, low, high = query.asked, 0.0, 1.0
    if plan.n is None or asked.rows(plan.n) is None:
        return None
    if query.grid is not None and asked.interval is not None:
        low, high = asked.interval
    if asked.cells is not None and asked.products:  # moments of columns from -1 to 1
        return -1.0, 1.0
    if asked.products:
        ends = [column.interval or (0.0, 0.0) for column in asked.products]
        furthest = math.prod(end - start for start, end in ends) / 4.0
        return -furthest, furthest
    if asked.squares:
        return 0.0, (high - low) * (high - low) / 4.0
    if asked.averaged:
        return low, high
    if asked.spec.total_bounds is not None:
        low, high = asked.spec.total_bounds
        return plan.n * low, plan.n * high
    if asked.masked or asked.spec.where or asked.spec.by:  # some rows may not be added up
        low, high = min(low, 0.0), max(high, 0.0)
    most = plan.n * plan.study.data.rows_per_record
    if asked.choice is not None:  # the error is of a rank
        return 0.0, float(most * asked.choice.largest_error)
    return most * low, most * high
