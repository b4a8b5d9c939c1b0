"""Membership privacy, and Pufferfish with records as secrets (theory 5.2 d)."""

from __future__ import annotations

from bayesdp.theorems.relations.base import Relation, same

RELATIONS = (
    Relation(
        "bdp-to-mp",
        "bdp",
        "mp",
        "a ratio of at most e^e between values moves no probability of a value by more",
        "Zhao 2019",
        same,
        "e",
    ),
    Relation(
        "mp-to-bdp",
        "mp",
        "bdp",
        "beliefs that may be scaled down to two values, one of them almost certain, see the ratio",
        "Zhao 2019",
        same,
        "e",
        ("downward-scalable-family",),
    ),
    Relation(
        "bdp-to-pufferfish",
        "bdp",
        "pufferfish",
        "BDP is Pufferfish with the values of single records as secrets, and a family of all that "
        "an adversary may know",
        "Kifer & Machanavajjhala 2014",
        same,
        "e",
        ("record-secrets",),
    ),
    Relation(
        "pufferfish-to-bdp",
        "pufferfish",
        "bdp",
        "Pufferfish with the values of single records as secrets, and a family of all that an "
        "adversary may know, is BDP",
        "Kifer & Machanavajjhala 2014",
        same,
        "e",
        ("record-secrets",),
    ),
)
