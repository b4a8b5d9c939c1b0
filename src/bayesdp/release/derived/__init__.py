"""What follows from released numbers, at no cost.

* The arithmetic: `numbers` (ratios, the largest ones, sums that add up, running sums),
  `correlations`, `regressions` (coefficients), and `sampling` (intervals for the population that
  rows are a sample of).
* `[[derived]]` of a study: `check` refuses what can't be computed, `results` computes it.
"""
