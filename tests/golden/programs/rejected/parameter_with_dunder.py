# REJECT name: a parameter named like Python's own
from bayesdp.programs import Bool, Database, Int, Private, helper, laplace, program


@helper
def total(__rows):
    return sum(__rows)


@program
def f(obs: Database[Bool]) -> Private[Int]:
    return laplace(total(obs), epsilon=1)
