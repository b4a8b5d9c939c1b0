"""What follows a release: posteriors and numbers about them. It is free.

`inference` has `plug_in`, `noise_aware` and `nuts`; `over_hypotheses` posteriors of finite models;
`distributions` those of released numbers, and draws; `summaries` means, quantiles, probabilities.
"""
