# REJECT name: a parameter that hides a release
from bayesdp.programs import Bool, Database, Int, Private, helper, laplace, program


@helper
def clip(value, low, high):
    return value


@program
def f(obs: Database[Bool]) -> Private[Int]:
    return laplace(clip(sum(obs), 0, 1), epsilon=1, sensitivity=1)
