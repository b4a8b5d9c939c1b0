"""Populations as declared: what the rules of theorems share.

* Any: `populations` (sizes), `components` (which records are tied), `dependence` (whether records
  are independent, which databases are possible), `described` (numbers that no rule reads).
* Chains: `chains` (their declaration, and the recursion over runs), `orders` (of order k), `moves`
  (which values records can have).
* Graphs and finite laws: `graphs`, `factors` (merged), `joints` (multiplied out), `state_fields`
  and `thresholds` (messages of graphs whose odds are known).
* Gaussian records: `gaussian`.
"""
