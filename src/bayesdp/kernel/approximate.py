"""Conversions with a delta: from pure and zCDP costs to an (epsilon, delta) level (theory 2.5, 3.10).

A release with Gaussian noise has, under its conversion, a composition of which the conclusion is

    {"notion": "dp", "epsilon": E, "rho": R}

`E` the sum of the pure costs, `R` of the zCDP costs. A conversion step with a delta is

    {"rule": THEOREM,
     "conclusion": {"notion": "bdp", "epsilon": e, "delta": d, "adversary": ADVERSARY},
     "evidence": {
       "population": ..., "covers": [...], "independent": [...], "secrets": ..., "interval": [...],
       "cost": {"any": .., "lipschitz": .., "slack": .., "rho_any": .., "rho_lipschitz": ..,
                "rho_slack": .., "by_column": [{"column", "width", "dp_epsilon", "slack", "rho",
                "rho_slack"}, ...]},
       "delta": {"counted": "pure" | "zcdp",
                 "way": "renyi" | "point",
                 "alpha": [p, q],
                 "dp_epsilon": .., "dp_delta": ..},
       "details": {...}},
     "premises": [the composition]}

`interval` stands there as without a delta. `counted` says how pure spends enter `cost`: as such, or
each of them as zCDP of `eps^2 / 2` (then `any`, `lipschitz` and `slack` are 0). `alpha = p / q > 1`
is the Rényi order of the proof; it is null where no cost is zCDP, which needs none.

* `renyi`: the theorem turns the cost (E, R) of one record into that (E', R') of a secret, and the
  level is a point of its curve: `d >= exp((alpha - 1) (E' + alpha R' - e)) / (alpha - 1)
  (1 - 1/alpha)^alpha`. For `independent`, `cluster-size`, the Gaussian theorems, `family` of them.
* `point`: `(dp_epsilon, dp_delta)` is a point of the curve of (E, R), and the theorem turns it into
  `(e, d)`. For `markov-contraction` and `graph-contraction` (theory 3.10), and `family` of them.
  `dp_epsilon` and `dp_delta` stand there only with this way.

A family has no `delta` in its evidence: under it stands, besides the composition, one such step for
each member. A step of notion DP has the rule `approximate-dp`, the conclusion
`{"notion": "dp", "epsilon": e, "delta": d}` and in its evidence `cost` and `delta` (`renyi`) alone.

A level of pure costs by a theorem without a delta may stand under a claim with one, since a delta of
0 is below it: such a step has neither `delta` in its conclusion nor in its evidence.
"""

from __future__ import annotations
