# REJECT static: a helper's default that is computed
from bayesdp.programs import Bool, Database, Int, Private, helper, laplace, program


@helper
def total(rows, start=len("abc")):
    return sum(rows) + start


@program
def f(obs: Database[Bool]) -> Private[Int]:
    return laplace(total(obs), epsilon=1)
