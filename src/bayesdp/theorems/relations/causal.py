"""The effect of setting one record (theory 5.2 e, 5.3)."""

from __future__ import annotations

from bayesdp.theorems.relations.base import Relation, same

RELATIONS = (
    Relation(
        "dp-to-causal-do",
        "dp",
        "causal-do",
        "setting one record, the others kept, changes no outcome's probability by more than e^eps",
        "Tschantz, Sen & Datta 2020",
        same,
        "e",
        ("causal-structure",),
    ),
    Relation(
        "causal-do-to-dp",
        "causal-do",
        "dp",
        "the bound on effects under every population is DP: take populations that fix the others",
        "Tschantz, Sen & Datta 2020",
        same,
        "e",
        ("causal-structure", "every-population"),
    ),
    Relation(
        "causal-do-to-bdp-uninformed",
        "causal-do",
        "bdp-uninformed",
        "under independence, seeing a record is as good as setting it",
        "Tschantz, Sen & Datta 2020",
        same,
        "e",
        ("causal-structure", "mutual-independence"),
    ),
    Relation(
        "bdp-uninformed-to-causal-do",
        "bdp-uninformed",
        "causal-do",
        "under independence, and if every value is possible, setting is as good as seeing",
        "Tschantz, Sen & Datta 2020",
        same,
        "e",
        ("causal-structure", "mutual-independence", "full-support"),
    ),
)
