# REJECT import: a decorator from elsewhere
from functools import cache

from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@cache
@program
def f(obs: Database[Bool]) -> Private[Int]:
    return laplace(sum(obs), epsilon=1)
