# REJECT static: a constant computed by a call
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


EPSILON = float("inf")


@program
def f(obs: Database[Bool]) -> Private[Int]:
    return laplace(sum(obs), epsilon=EPSILON)
