# ACCEPT (0.2, 0): the kept rows of a filter are counted, whatever their value.
from bayesdp.programs import Bool, Database, Int, Private, count, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    return laplace(count(x for x in obs if not x), epsilon=0.2)
