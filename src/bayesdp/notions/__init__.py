"""The vocabulary, and the notions of privacy as objects.

`vocabulary` has the words that every room uses: adversaries, kinds of mechanism, levels, costs.
"""

from __future__ import annotations

from bayesdp.notions.vocabulary import (
    ADVERSARIES,
    ADVERSARY_MEANING,
    KINDS,
    NOTIONS,
    ROUNDING,
    SECRETS,
    Adversary,
    Claim,
    ColumnCost,
    Cost,
    Estimate,
    Exact,
    Kind,
    Notion,
    Secrets,
    Tightness,
    UpperBound,
)

__all__ = [
    "ADVERSARIES",
    "ADVERSARY_MEANING",
    "KINDS",
    "NOTIONS",
    "ROUNDING",
    "SECRETS",
    "Adversary",
    "Claim",
    "ColumnCost",
    "Cost",
    "Estimate",
    "Exact",
    "Kind",
    "Notion",
    "Secrets",
    "Tightness",
    "UpperBound",
]
