"""Single steps of proof in balls, which know nothing of populations or queries.

`fixed_points` (from above: one step checks a witness), `ratios` (of averages of a log-Lipschitz
function), `odds_steps` (of changes whose odds are bounded), `walks` (row sums of an inverse) and
`tails` (of noise).
"""
