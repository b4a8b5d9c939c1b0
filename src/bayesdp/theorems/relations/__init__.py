"""Relations between notions of privacy as theorems, and what follows from given levels.

`RELATIONS` lists them all: one arrow of the lattice in docs/relations.md each. `implied` finds the
best level of every notion that follows from given ones, and the path to it.
"""

from __future__ import annotations

from bayesdp.theorems.relations import adversaries, causal, conversion, membership, semantic
from bayesdp.theorems.relations.base import Published, Relation
from bayesdp.theorems.relations.hypotheses import HYPOTHESES, Facts, Hypothesis

RELATIONS: tuple[Relation, ...] = (
    *adversaries.RELATIONS,
    *conversion.RELATIONS,
    *semantic.RELATIONS,
    *membership.RELATIONS,
    *causal.RELATIONS,
)
"""Every relation. A new one is an entry in a file here, a row in the kernel, a proof and a test."""

BY_NAME: dict[str, Relation] = {relation.name: relation for relation in RELATIONS}

__all__ = ["BY_NAME", "HYPOTHESES", "RELATIONS", "Facts", "Hypothesis", "Published", "Relation"]
