"""From DP to Bayesian DP, by the theorems about the population (theory 2.1, 3, 5.2 b).

#### b. Conversion

<a id="dp-to-bdp"></a><a id="dp-to-bdp-uninformed"></a>**dp ⇒ bdp** and **dp ⇒ bdp-uninformed** at
`L(e)`, the best bound of section 3 for the declared population and the class of adversaries.
<a id="dp-to-bdp-informed"></a>**dp ⇒ bdp-informed** at the same level, whatever the population: its
pairs are some of DP's.
"""

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
