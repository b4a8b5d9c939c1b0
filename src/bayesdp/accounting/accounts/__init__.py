"""What may be spent on a data set.

`account` has what a data set holds, `limits` what its readings allow, `analysts` whose release it
is, and `lookalikes` the names that a reader takes for one another.
"""
