"""Draws: the noise of releases, and choices.

`noise` asks OpenDP, `gaussian` says how much Gaussian noise a release gets. `choices` are the
exponential mechanism and answers of records, by `distances` of distributions where that is the
score; `channels` are the laws of such answers; `thresholds` find the first query above one.
"""
