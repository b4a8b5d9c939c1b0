# REJECT size: a tuple of a million entries
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    many = (0,) * 1000000
    return laplace(sum(obs), epsilon=1) + sum(many)
