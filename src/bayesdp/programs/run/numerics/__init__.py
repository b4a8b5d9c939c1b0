"""What posteriors are computed with: sums, integrals and draws.

* Sums over what noise hides: `hidden_counts`, `poisson_events`, `private_sizes` (of unknown size).
* Densities that are known up to a constant: `quadrature`, `ensemble` (of walkers), `peaks` (where a
  walk begins); `interpolated` for functions that take long.
* `observed` is a release as inference sees it.
"""
