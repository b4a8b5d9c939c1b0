# REJECT name: a helper that is called laplace and adds no noise
from bayesdp.programs import Bool, Database, Int, Private, helper, program


@helper
def laplace(value, epsilon):
    return value


@program
def f(obs: Database[Bool]) -> Private[Int]:
    return laplace(sum(obs), epsilon=1)
