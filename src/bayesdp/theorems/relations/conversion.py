"""From DP to Bayesian DP, by the theorems about the population (theory 2.1, 3, 5.2 b)."""

from __future__ import annotations

from bayesdp.theorems.relations.base import Relation, same

RELATIONS = (
    Relation(
        "dp-to-bdp",
        "dp",
        "bdp",
        "eps-DP is L(eps)-BDP, with the population's conversion L",
        "theory 2.1 and 3",
        same,
        "L(e), by the best theorem about the population",
        converts="any",
    ),
    Relation(
        "dp-to-bdp-uninformed",
        "dp",
        "bdp-uninformed",
        "eps-DP is L(eps)-BDP, with the conversion against adversaries who know no record",
        "theory 2.1 and 3",
        same,
        "L(e), by the best theorem about the population",
        converts="uninformed",
    ),
    Relation(
        "dp-to-bdp-informed",
        "dp",
        "bdp-informed",
        "for someone who knows every other record, eps-DP is eps-BDP under every population",
        "Yang, Sato & Nakagawa 2015",
        same,
        "e",
    ),
)
