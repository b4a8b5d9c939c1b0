# REJECT static: a helper's default that remembers what it has seen
from bayesdp.programs import Bool, Database, Int, Private, helper, laplace, program


@helper
def total(rows, seen=[0]):
    return sum(rows) + seen[0]


@program
def f(obs: Database[Bool]) -> Private[Int]:
    return laplace(total(obs), epsilon=1)
