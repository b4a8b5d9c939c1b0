"""Models: priors, likelihoods, and what they observe.

`models` has `observe`, `infer` and `statistics`. Likelihoods and priors are `standard` (the first
five pairs) and other `likelihoods`, with their rows and statistics in `families`: `regressions`,
`pooling` (groups), `hypotheses` (finite models). Models may observe `noisy_sums` and
`perturbed_answers`, and count on a population's `dependence`.
"""
