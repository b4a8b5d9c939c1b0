"""The numerical methods that theorems call. They read populations, and know no theorem.

* Finite laws: `worst_case` and `reveal` (all mechanisms of a cost), `tensor` and `channel` (one
  mechanism); the first two use `linear_program`, `lipschitz` and `domain`.
* Chains: `chain` and `positive_chain` (two states), `intervals` (two states between bounds),
  `states` (more), `tuples`, `windows` and `contexts` with
  `context_levels` (order k), `closing` (long ones), `stationary`
  (the laws that they start in).
* Trees and graphs: `tree`, `contraction`, `influence`; where odds are known `fields` (pairs of two
  values, from `binary_pairs`) and `state_fields` (any values, from `merged_factors` and
  `thresholds`), both over the search in `rising`; `ferromagnet` (grids of two states); `panels`
  (members of a cluster over time).
* Gaussian records: `normal` (clusters), `walk` (fields); `normal_curve` is that of Gaussian noise.
* Levels with a delta: `correlated_deltas`, `zcdp`. Time limits of all of them: `deadline`.
* Every notion at once, for small laws: the room `profile`.
"""
