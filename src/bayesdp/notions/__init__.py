"""The vocabulary, and the notions of privacy as objects.

`vocabulary` has the words that every room uses: adversaries, kinds of mechanism, levels, costs;
`catalogue` the notions, each with its definition, its scope and how a level of it reads.
"""

from __future__ import annotations

from bayesdp.notions.catalogue import (
    CATALOGUE,
    SCOPE_MEANING,
    NotionClaim,
    NotionKey,
    PrivacyNotion,
    ScopeKind,
    believed,
    notion_of,
)
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
    "CATALOGUE",
    "KINDS",
    "NOTIONS",
    "ROUNDING",
    "SCOPE_MEANING",
    "SECRETS",
    "Adversary",
    "Claim",
    "ColumnCost",
    "Cost",
    "Estimate",
    "Exact",
    "Kind",
    "Notion",
    "NotionClaim",
    "NotionKey",
    "PrivacyNotion",
    "ScopeKind",
    "Secrets",
    "Tightness",
    "UpperBound",
    "believed",
    "notion_of",
]
