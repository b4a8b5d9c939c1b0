# REJECT static: a number beyond all bounds
from bayesdp.programs import Bool, Database, Private, Real, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Real]:
    return laplace(sum(obs), epsilon=1e999)
