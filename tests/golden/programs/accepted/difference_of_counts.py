# ACCEPT (0.5, 0): a difference of two counts is one row function with values -1, 0 and 1: it moves by 2.
from bayesdp.programs import Category, Database, Int, Private, count, laplace, program


@program
def lead(votes: Database[Category["yes", "no", "none"]]) -> Private[Int]:
    ayes = count(v for v in votes if v == "yes")
    noes = count(v for v in votes if v == "no")
    return laplace(ayes - noes, epsilon=0.5, sensitivity=2)
