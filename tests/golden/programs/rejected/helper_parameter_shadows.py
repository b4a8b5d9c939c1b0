# REJECT name: a helper's parameter that hides a release
from bayesdp.programs import Bool, Database, Int, Private, helper, laplace, program


@helper
def noisy(value, laplace):
    return value


@program
def f(obs: Database[Bool]) -> Private[Int]:
    return noisy(sum(obs), laplace)
