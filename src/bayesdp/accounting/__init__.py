"""Spends, what they add up to, and the ledger that keeps them.

The rooms and files; each imports only those above it in this list:

* `canonical`: plain data as text.
* `costs`: what is spent, how it is read, and what it adds up to.
* `expressions`: compositions as data, their prices and levels; `accounts`: what may be spent.
* `log`: entries, chained by hash, and lists of them; `what_if`: what several releases cost
  together.
* `sharing`: shares of analysts, and data sets that share people; `stores`: a file, or a server.
* `reader`: everything that is read from a ledger; `ledger`: what other rooms use of it.
* `transaction`: the way of every release through its ledger.

What brings SQLAlchemy or the theorems along is loaded on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from bayesdp.accounting.costs.blocks import Block
from bayesdp.accounting.costs.readings import LevelFunction, Reading
from bayesdp.accounting.costs.spend import Spend, total_cost

if TYPE_CHECKING:
    from bayesdp.accounting.accounts.account import Preview
    from bayesdp.accounting.costs.odometer import Filter, Odometer
    from bayesdp.accounting.expressions.expression import (
        CompositionRefusal,
        Indexed,
        Mechanism,
        Parallel,
        PostProcessing,
        Private,
        Public,
        Sequential,
    )
    from bayesdp.accounting.expressions.levels import Composed, composed_level
    from bayesdp.accounting.expressions.prices import Price, price
    from bayesdp.accounting.ledger import Ledger, ReleaseId

__all__ = [
    "Block",
    "Composed",
    "CompositionRefusal",
    "Filter",
    "Indexed",
    "Ledger",
    "LevelFunction",
    "Mechanism",
    "Odometer",
    "Parallel",
    "PostProcessing",
    "Preview",
    "Price",
    "Private",
    "Public",
    "Reading",
    "ReleaseId",
    "Sequential",
    "Spend",
    "composed_level",
    "price",
    "total_cost",
]

_LATER = {
    "accounts.account": ("Preview",),
    "ledger": ("Ledger", "ReleaseId"),
    "expressions.levels": ("Composed", "composed_level"),
    "costs.odometer": ("Filter", "Odometer"),
    "expressions.expression": (
        "CompositionRefusal",
        "Indexed",
        "Mechanism",
        "Parallel",
        "PostProcessing",
        "Private",
        "Public",
        "Sequential",
    ),
    "expressions.prices": ("Price", "price"),
}


def __getattr__(name: str) -> Any:
    for module, names in _LATER.items():
        if name in names:
            return getattr(importlib.import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
