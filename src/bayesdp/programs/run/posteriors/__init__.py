"""Posteriors from releases, one file a model.

* `from_releases` is the way in: `plug_in` and `noise_aware`, and the pairs that are conjugate.
* Counts and rates: `private_totals`, `exposures` (shares of rates), `waiting_times`, `chains`.
* Normal records: `normal_records`, `mixtures`, `partial_pooling` (groups).
* Regressions: `linear_regression`, `generalized_regression` (logistic and Poisson).
* `hypotheses` (finite models) and `perturbed_answers` (each record's own).
"""
