"""The vocabulary, and the notions of privacy as objects.

`vocabulary` has the words that every room uses: adversaries, kinds of mechanism, levels, costs.
`catalogue` has the notions, each with its definition, its scope and how a level of it reads.
`levels` has the answers of theorems and calibrations.
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
from bayesdp.notions.levels import (
    Bound,
    Calibration,
    LeakageReport,
    OfTime,
    Refused,
    left_out_for_time,
    left_out_words,
)
from bayesdp.notions.vocabulary import (
    ADVERSARIES,
    ADVERSARY_MEANING,
    KINDS,
    NOTIONS,
    ROUNDING_IN_WORDS,
    SECRETS,
    ZCDP,
    Adversary,
    ApproxDP,
    Claim,
    ColumnCost,
    Cost,
    Kind,
    Notion,
    PureDP,
    Secrets,
    Tightness,
)

__all__ = [
    "ADVERSARIES",
    "ADVERSARY_MEANING",
    "CATALOGUE",
    "KINDS",
    "NOTIONS",
    "ROUNDING_IN_WORDS",
    "SCOPE_MEANING",
    "SECRETS",
    "ZCDP",
    "Adversary",
    "ApproxDP",
    "Bound",
    "Calibration",
    "Claim",
    "ColumnCost",
    "Cost",
    "Kind",
    "LeakageReport",
    "Notion",
    "NotionClaim",
    "NotionKey",
    "OfTime",
    "PrivacyNotion",
    "PureDP",
    "Refused",
    "ScopeKind",
    "Secrets",
    "Tightness",
    "believed",
    "left_out_for_time",
    "left_out_words",
    "notion_of",
]
