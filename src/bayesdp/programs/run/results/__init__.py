"""What a program returns: distributions, and how they are looked at.

`program_result` is all of it. `distributions` are of one number or of several; `divergences` and
`density_figures` see a `univariate_law` of each. `diagnostics` say whether chains of draws agree.
"""
