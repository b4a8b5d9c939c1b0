"""Spends, what they add up to, and the ledger that keeps them.

* What is spent and how it is read: `spend` (with `field_checks`) and `readings`, `blocks` (of a
  public column), `independence`.
* What it adds up to: `composition` and `levels`, `delta_composition` (of epsilon and delta),
  `deltas` (of mechanisms, within what a reading sets aside), `expressions` (compositions as data)
  with their `prices`, and the room `what_if`; `odometer` (in memory).
* The ledger: `ledger` is what other rooms use, `reader` its part that only reads, `transaction` the
  way of every release through it.
* What the ledger keeps: `entries`, chained by hash; `contents` (what they say), `canonical` (data
  as text), `exchange` (entries as lines of a file). `verifying` holds entries against each other,
  `against` holds them against certificates, `verified` remembers what this process has read.
* Where it keeps them: the tables of a `schema`, in a file (`storage`) or on a `server` (named by
  `server_addresses`), which are both `stores`; `roles` of curators and analysts on a server;
  `version_2` (older files).
* What may be spent: `account` (what a data set holds), `limits` (what its readings allow),
  `rounded` (what is left), `shares` (of analysts), `people` (data sets that share people);
  `analysts` and `lookalikes` (names).
* Lists of entries: `listing` (as data), `trail` (in their order), `chosen` (some of them), `shown`
  (in notebooks).

What brings SQLAlchemy or the theorems along is loaded on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from bayesdp.accounting.blocks import Block
from bayesdp.accounting.readings import LevelFunction, Reading
from bayesdp.accounting.spend import Spend, total_cost

if TYPE_CHECKING:
    from bayesdp.accounting.account import Preview
    from bayesdp.accounting.expressions import (
        CompositionRefusal,
        Indexed,
        Mechanism,
        Parallel,
        PostProcessing,
        Private,
        Public,
        Sequential,
    )
    from bayesdp.accounting.ledger import Ledger, ReleaseId
    from bayesdp.accounting.levels import Composed, composed_level
    from bayesdp.accounting.odometer import Filter, Odometer
    from bayesdp.accounting.prices import Price, price

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
    "account": ("Preview",),
    "ledger": ("Ledger", "ReleaseId"),
    "levels": ("Composed", "composed_level"),
    "odometer": ("Filter", "Odometer"),
    "expressions": (
        "CompositionRefusal",
        "Indexed",
        "Mechanism",
        "Parallel",
        "PostProcessing",
        "Private",
        "Public",
        "Sequential",
    ),
    "prices": ("Price", "price"),
}


def __getattr__(name: str) -> Any:
    for module, names in _LATER.items():
        if name in names:
            return getattr(importlib.import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
