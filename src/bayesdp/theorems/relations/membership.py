"""Membership privacy, and Pufferfish with records as secrets (theory 5.2 d).

#### d. Membership privacy and Pufferfish

<a id="bdp-to-mp"></a>**bdp ⇒ mp**, same level, for beliefs on `x_i` given a known `x_S`: 5.1 f. For
correlated beliefs on `(x_i, x_S)` it is false. <a id="mp-to-bdp"></a>**mp ⇒ bdp**, same level, *for
downward scalable families*: a belief on `x_i` and `x_i'` alone, with `b = P[x_i]` tending to 0, has
`rho <= g(b)`, and `g(b)` tends to `e^e`. For one belief `rho` may be `e^(2e)`.

<a id="bdp-to-pufferfish"></a><a id="pufferfish-to-bdp"></a>**bdp ⇔ pufferfish**, same level, *for
record secrets*: 5.1 h. Secrets about several records are another matter.
"""

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
