"""DP, groups, and Bayesian DP by what the adversary knows (theory 5.2 a).

#### a. DP, groups, and what the adversary knows

<a id="dp-to-strong-dp"></a><a id="strong-dp-to-dp"></a>**dp ⇔ strong-dp**, same level: 5.1 b.

<a id="dp-to-group-dp"></a><a id="group-dp-to-dp"></a>**dp ⇒ group-dp** at `size * e`: change the
differing records one at a time. **group-dp ⇒ dp** at the same level: adjacent databases differ in
at most `size >= 1` records.

<a id="group-dp-to-bdp"></a>**group-dp ⇒ bdp**, same level, *if groups are within size*. **Proof.**
Given `x_K`, only the unknown records of the group of `i` have another law under `x_i'` than under
`x_i`. Draw the others alike for both, and those of the group in any way: each pair of databases
differs in at most `size` records, so the averages have a quotient of at most `e^e`. ∎

<a id="dp-to-independent-bdp"></a><a id="independent-bdp-to-dp"></a>**dp ⇔ independent-bdp**, same
level: 5.1 c. <a id="independent-bdp-to-bdp"></a>**independent-bdp ⇒ bdp**, same level, *if the
records are mutually independent*: this law is one of those.

<a id="bdp-to-bdp-uninformed"></a><a id="bdp-to-bdp-informed"></a>**bdp ⇒ bdp-uninformed** and **bdp
⇒ bdp-informed**, same level: fewer adversaries.

<a id="bdp-to-dp"></a><a id="bdp-informed-to-dp"></a>**bdp ⇒ dp** and **bdp-informed ⇒ dp**, same
level, *on full support*: for `K` all others the condition is the channel's own, at every pair of
adjacent databases. Without it databases that can't be are never compared.

<a id="bdp-informed-to-bdp"></a>**bdp-informed ⇒ bdp**, same level, *if the records are mutually
independent*. **Proof.** The possible databases are then all combinations of possible values, so
`P[y | x_i, x_K]` and `P[y | x_i', x_K]` average, with the same weights, pairs whose quotient is at
most `e^e`. ∎

<a id="bdp-uninformed-to-group-dp"></a>**bdp-uninformed ⇒ group-dp** of every size, same level, *if
it holds for every population* (no free lunch). **Proof.** For two databases that differ in record
`i` (and in others) take the population that has each with probability 1/2. Seeing `x_i` decides
which. ∎
"""

from __future__ import annotations

from bayesdp.theorems.relations.base import Relation, same, times_size

RELATIONS = (
    Relation(
        "dp-to-strong-dp",
        "dp",
        "strong-dp",
        "eps-DP bounds what somebody learns who knows all other records",
        "Li, Qardaji, Su, Wu & Yang 2013",
        same,
        "e",
    ),
    Relation(
        "strong-dp-to-dp",
        "strong-dp",
        "dp",
        "privacy against the strong adversary, whatever the others' values, is DP",
        "Li, Qardaji, Su, Wu & Yang 2013",
        same,
        "e",
    ),
    Relation(
        "dp-to-group-dp",
        "dp",
        "group-dp",
        "k replacements, one after the other, cost k times the DP level",
        "Dwork & Roth 2014, Theorem 2.2",
        times_size,
        "size * e",
    ),
    Relation(
        "group-dp-to-dp",
        "group-dp",
        "dp",
        "a group of at most k records may be a single one",
        "Dwork & Roth 2014",
        same,
        "e",
    ),
    Relation(
        "group-dp-to-bdp",
        "group-dp",
        "bdp",
        "if no more than `size` records depend on each other, group privacy bounds BDP",
        "Lange et al. 2025; theory 3.2",
        same,
        "e",
        ("groups-within-size",),
    ),
    Relation(
        "dp-to-independent-bdp",
        "dp",
        "independent-bdp",
        "eps-DP is eps-BDP whenever the records are mutually independent",
        "Yang, Sato & Nakagawa 2015",
        same,
        "e",
    ),
    Relation(
        "independent-bdp-to-dp",
        "independent-bdp",
        "dp",
        "BDP under all product laws is DP: take laws that fix the other records",
        "Tschantz, Sen & Datta 2020 (corrected)",
        same,
        "e",
    ),
    Relation(
        "independent-bdp-to-bdp",
        "independent-bdp",
        "bdp",
        "what holds under all product laws holds under this one",
        "Yang, Sato & Nakagawa 2015",
        same,
        "e",
        ("mutual-independence",),
    ),
    Relation(
        "bdp-to-bdp-uninformed",
        "bdp",
        "bdp-uninformed",
        "an adversary who knows no record is one of all adversaries",
        "Yang, Sato & Nakagawa 2015",
        same,
        "e",
    ),
    Relation(
        "bdp-to-bdp-informed",
        "bdp",
        "bdp-informed",
        "an adversary who knows every other record is one of all adversaries",
        "Yang, Sato & Nakagawa 2015",
        same,
        "e",
    ),
    Relation(
        "bdp-to-dp",
        "bdp",
        "dp",
        "where every database is possible, the adversary who knows all others sees the DP level",
        "Yang, Sato & Nakagawa 2015",
        same,
        "e",
        ("full-support",),
    ),
    Relation(
        "bdp-informed-to-dp",
        "bdp-informed",
        "dp",
        "where every database is possible, all pairs of adjacent databases are compared",
        "Yang, Sato & Nakagawa 2015",
        same,
        "e",
        ("full-support",),
    ),
    Relation(
        "bdp-informed-to-bdp",
        "bdp-informed",
        "bdp",
        "under a product law, not knowing records averages over what knowing them shows",
        "Yang, Sato & Nakagawa 2015",
        same,
        "e",
        ("mutual-independence",),
    ),
    Relation(
        "bdp-uninformed-to-group-dp",
        "bdp-uninformed",
        "group-dp",
        "a level that holds for every population holds for all pairs of databases",
        "Kifer & Machanavajjhala 2011 (no free lunch)",
        same,
        "e",
        ("every-population",),
    ),
)
