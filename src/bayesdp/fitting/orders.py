"""Chains of several orders beside each other: whichever is right, its member holds it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bayesdp.errors import InputError
from bayesdp.fitting.chains import ORDERS, ChainFit, fit_chain
from bayesdp.fitting.comparing import FitCheck
from bayesdp.populations import Family


@dataclass(frozen=True, eq=False)
class OrdersFit:
    """Chains of adjacent orders, fitted to one table: `fits`, the lowest order first.

    `population` is the family of their populations. If the chain has one of the orders, the member
    of that order holds its transitions with the stated confidence.
    """

    population: Family
    fits: tuple[ChainFit, ...]

    @property
    def diagnostics(self) -> tuple[FitCheck, ...]:
        """What speaks for or against the chain of the highest order, and the steps up to it."""
        return tuple(self._checks())

    def _checks(self) -> Iterator[FitCheck]:
        *lower, highest = self.fits
        for fit in lower:
            # A higher order that fits better is a member, so that nothing is amiss.
            yield from (
                FitCheck(
                    check.name,
                    _without_consequence(check.sentence),
                    True,
                    check.statistic,
                    check.degrees,
                )
                for check in fit.diagnostics
                if check.name.startswith("order ")
            )
        yield from highest.diagnostics

    def estimated(self) -> dict[str, Any]:
        """What was fitted for each order, as plain data."""
        return {"orders": [{"order": fit.order, **fit.estimated()} for fit in self.fits]}


def _without_consequence(sentence: str) -> str:
    """The sentence up to its colon: what follows it does not, as the family has both orders."""
    return sentence.partition(": ")[0].removesuffix(".") + "; the family has both."


def fit_orders(
    table: object, column: str, orders: Sequence[int], *, length: int, **options: Any
) -> OrdersFit:
    """Fit chains of adjacent `orders`, such as `(1, 2)`, to the states of `column`.

    `options` are those of `fit_chain`, and `length` too; each order is counted by itself. The level
    of the family is the largest of its members, so that it holds whichever order is right. Raises
    as `fit_chain` does, and `InputError` for orders that don't follow each other.
    """
    known = list(orders)
    whole = all(isinstance(order, int) and not isinstance(order, bool) for order in known)
    if len(known) < 2 or not whole or known != list(range(known[0], known[0] + len(known))):
        raise InputError(
            "orders", known, expected=f"two or more of {list(ORDERS)} that follow each other"
        )
    fits = tuple(fit_chain(table, column, order=k, length=length, **options) for k in known)
    listed = ", ".join(map(str, known))
    source = f"fitted to one table: chains of the orders {listed}, of which the true one has one"
    members = tuple(fit.population for fit in fits)
    return OrdersFit(Family(members=members, source=source), fits)
