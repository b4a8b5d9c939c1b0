# REJECT return: a helper with two returns
from bayesdp.programs import Bool, Database, Int, Private, helper, laplace, program


@helper
def held(x):
    if x > 5:
        return 5
    return x


@program
def f(obs: Database[Bool]) -> Private[Int]:
    return held(laplace(sum(obs), epsilon=1))
