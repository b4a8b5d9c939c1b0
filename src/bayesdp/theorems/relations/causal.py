"""The effect of setting one record (theory 5.2 e, 5.3).

#### e. Setting a record

<a id="dp-to-causal-do"></a>**dp ⇒ causal-do**, same level, *with the causal structure*: 5.3.
<a id="causal-do-to-dp"></a>**causal-do ⇒ dp**, same level, *if it holds for every population* (and
causal structure): take others that are certain. For one population it is false.

<a id="causal-do-to-bdp-uninformed"></a><a id="bdp-uninformed-to-causal-do"></a>**causal-do ⇒
bdp-uninformed**, same level, *if the records are mutually independent* (with the causal structure):
conditioning on `x_i` leaves the law of the others alone, so seeing is doing. **Back** also *on full
support*: values that can't be seen could still be set.
"""

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
