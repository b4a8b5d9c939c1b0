# REJECT static: a public argument whose default is private
from bayesdp.programs import Bool, Database, Int, Private, Public, laplace, program


@program
def f(obs: Database[Bool], *, level: Public[Int[0, 10]] = sum([1, 2])) -> Private[Int]:
    return laplace(sum(obs), epsilon=1)
