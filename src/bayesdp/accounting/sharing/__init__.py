"""What stops a release besides the data set's own budget.

`shares` of analysts and frozen data sets, `people` whom several data sets share; `verifying` holds
what entries say against each other.
"""
