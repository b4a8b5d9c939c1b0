"""Semantic privacy: how far two posteriors are apart in total variation (theory 5.2 c).

#### c. Semantic privacy

<a id="bdp-to-bsp"></a>**bdp ⇒ bsp** at `tanh(e/2)`; published: `e^(2e) - 1`, which says nothing
from `e = ln(2)/2 = 0.3466` on. **Proof.** By 5.1 e the level is `tanh(range / 4)` for the range of
`ln P[y | x_i, x_S] - ln P[y | d, x_S]`. Both values are possible beside the same `x_S`, so each
difference lies between `-e` and `e`, and the range is at most `2 e`. ∎ *Attained:* two fair
independent bits, default 0, one outcome with probability `c e^e` if the bits differ and `c` if not,
`c` small. The weights of the second bit's two values are `e^e` and `e^-e`. BSP speaks of those
`x_S` only that allow the default; so does this.

<a id="bsp-to-bdp"></a>**bsp ⇒ bdp** at `4 artanh(s)`, so `tanh(e/4)`-BSP gives e-BDP, *if the
default is possible*; published: the `e` with `s = 1/2 - 1/(e^e + 1) = tanh(e/2)/2`, for `s < 1/2`
(at e = .8: .1974 is enough, .1900 was asked for). **Proof.** For `x_S` known the range is the BDP
level itself (5.1 e), which beliefs on two values reach: `s >= tanh(e/4)`. ∎ *Attained* by one
record. With `tanh(t/2)/2 <= tanh(t/4)` (double the angle) ours is never weaker. The hypothesis is
needed: if the default is impossible beside the only `x_S` at which the mechanism tells two values
apart, BSP doesn't look there.

<a id="dp-to-sp"></a>**dp ⇒ sp** at `tanh(e/2)`, *if the default is in the domain*, by the same
proof with 5.1 d; published: `e^(2e) - 1`. Attained by the same model. <a id="sp-to-dp"></a>**sp ⇒
dp** at `4 artanh(s)`, by a belief on two adjacent databases; published as above (and earlier, `e <=
1.35`: `e/6`-SP is needed, Kasiviswanathan and Smith). It relies on counting an output that only the
default excludes as level 1 (5.1 d).

<a id="bsp-to-sp"></a>**bsp ⇒ sp**, same level, *on full support, with the default in the domain*
(**corrected**: published without them): take `S` = all others; then the ranges are those of 5.1 d.
Without full support beliefs on impossible databases are missing: `X1 = X2` and a mechanism that
tells whether they differ has BSP level 0 and SP level above 0.

<a id="sp-to-bsp"></a>**sp ⇒ bsp**, same level, *if the records are mutually independent* (new).
**Proof.** `P[y | x_i, x_S] / P[y | d, x_S]` is then a quotient of averages over the same law of the
unknown records, so it lies between the least and the largest weight of 5.1 d. ∎
"""

from __future__ import annotations

from bayesdp.theorems.relations.base import (
    ZHAO,
    ZHAO_DISTANCE,
    ZHAO_FROM_DISTANCE,
    Relation,
    distance,
    from_distance,
    same,
)

RELATIONS = (
    Relation(
        "bdp-to-bsp",
        "bdp",
        "bsp",
        "the posterior reweights the one with the default record by weights in [e^-e, e^e]",
        f"{ZHAO}, sharpened",
        distance,
        "tanh(e/2)",
        (),
        ZHAO_DISTANCE,
    ),
    Relation(
        "bsp-to-bdp",
        "bsp",
        "bdp",
        "a belief on two values of one record, all else known, moves by tanh(e/4)",
        f"{ZHAO}, sharpened",
        from_distance,
        "4 artanh(s), that is s = tanh(e/4)",
        ("default-possible",),
        ZHAO_FROM_DISTANCE,
    ),
    Relation(
        "dp-to-sp",
        "dp",
        "sp",
        "as for BSP, with all other records known or believed in any way",
        f"Kasiviswanathan & Smith 2014; {ZHAO}; sharpened",
        distance,
        "tanh(e/2)",
        ("default-in-domain",),
        ZHAO_DISTANCE,
    ),
    Relation(
        "sp-to-dp",
        "sp",
        "dp",
        "a belief on two adjacent databases moves by tanh(e/4)",
        f"Kasiviswanathan & Smith 2014; {ZHAO}; sharpened",
        from_distance,
        "4 artanh(s), that is s = tanh(e/4)",
        (),
        ZHAO_FROM_DISTANCE,
    ),
    Relation(
        "bsp-to-sp",
        "bsp",
        "sp",
        "where every database is possible, beliefs on all records are among those of BSP",
        f"{ZHAO} (the hypothesis is ours)",
        same,
        "s",
        ("full-support", "default-in-domain"),
    ),
    Relation(
        "sp-to-bsp",
        "sp",
        "bsp",
        "under a product law, the weights of BSP are averages of those of SP",
        "theory 5.2 c",
        same,
        "s",
        ("mutual-independence",),
    ),
)
