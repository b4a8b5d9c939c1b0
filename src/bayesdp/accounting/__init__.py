"""Spends, what they add up to, and the ledger that keeps them.

* What is spent and how it is read: `spend` (with `field_checks`) and `readings`, `blocks` (of a
  public column), `independence`.
* What it adds up to: `composition` and `levels`, `approximate` (epsilon and delta), `deltas` (of
  mechanisms, within what a reading sets aside), `expressions` (compositions as data) with their
  `prices`, and the room `what_if`; `odometer` (in memory).
* The ledger: `ledger` is what others use, and `reader` the part of it that only reads. Its
  `entries` are chained by hash; `contents` is what they say, in the tables of a `schema`, which a
  file (`storage`) or a `server` (by its `server_addresses`) keeps: either of the `stores`. What
  curators and analysts may do on a server are its `roles`. `verified` is what a process has read
  and needn't read again, `version_2` has older files, `verifying` holds entries against each other,
  `against` certificates, and `exchange` has them as lines. `account` is what a data set holds,
  `limits` what its readings allow, `shares` what an analyst may, `people` what data sets may that
  share people, `rounded` what is left; `transaction` is the way of every release through it.
  `canonical` is data as text; `analysts` and `lookalikes` are names; `listing`, `trail`, `shown`
  and `chosen` list entries, in their order, show them in notebooks, choose some.

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
