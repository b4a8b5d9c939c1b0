"""Steps from DP to BDP, and from one notion to another.

`conversion` reads a step and proves its level, `bounds` has the bound of each rule with the
hypotheses that all share, `approximate` conversions with a delta. `relations` proves what one
notion says of another, and `hypotheses` what that needs to know of the population.
"""
