# REJECT name: a Cyrillic letter in a name that looks like laplace
from bayesdp.programs import Bool, Database, Int, Private, helper, laplace, program


@helper
def lаplace(value, epsilon):
    return value


@program
def f(obs: Database[Bool]) -> Private[Int]:
    return lаplace(sum(obs), epsilon=1)
