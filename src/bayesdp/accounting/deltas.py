"""Deltas that mechanisms have of their own, and whether a reading has room for them (theory 2.6b).

They add up. A reading sets a part of its delta aside for them before the first answer, and the
orders for Gaussian noise share the rest: so whatever is chosen after looking, both keep to delta.
"""

from __future__ import annotations

from collections.abc import Sequence

from bayesdp.accounting.readings import LevelFunction, Reading
from bayesdp.accounting.spend import Spend, total_cost
from bayesdp.errors import Refusal
from bayesdp.notions import Cost
from bayesdp.numbers import UpperBound, up_words
from bayesdp.statements.base import exact_text


class UnreadDeltaError(Refusal):
    """Spends have deltas of their own, and a reading has no theorem or no delta for them."""


def unread_deltas(reading: Reading, cost: Cost) -> str | None:
    """Why a reading has no level for costs with deltas of mechanisms; None where it may have one.

    The deltas add up, and must stay within the part of delta that the reading set aside before the
    first answer (theory 2.6b).
    """
    if cost.dp_delta <= reading.mechanism_delta:  # 0 is within what every reading sets aside
        return None
    together = f"{reading.words()}: mechanisms have deltas of their own, which add up to"
    if reading.notion == "bdp":
        return (
            f"{together} {up_words(cost.dp_delta)}, and no theorem converts such costs where they "
            "may depend on earlier answers. Keep them under a DP reading, on a data set of its own."
        )
    return (
        f"{together} {up_words(cost.dp_delta)}, and it sets aside "
        f"{exact_text(reading.mechanism_delta)} for them. Use mechanisms with smaller deltas (a "
        "count by groups from data has its own: write a smaller delta below its [[query]]), or a "
        "reading with a larger mechanism_delta from the start."
    )


def check_deltas(reading: Reading, cost: Cost) -> None:
    """Raises `UnreadDeltaError` where the reading has no room for the mechanisms' own deltas."""
    reason = unread_deltas(reading, cost)
    if reason is not None:
        raise UnreadDeltaError(reason)


def within_deltas(level: LevelFunction) -> LevelFunction:
    """The same `level`, but refused where a reading has no room for the mechanisms' own deltas.

    Whatever a ledger reads levels by, it then counts deltas.
    """

    def checked(reading: Reading, spends: Sequence[Spend]) -> UpperBound:
        check_deltas(reading, total_cost(spends))
        return level(reading, spends)

    return checked
