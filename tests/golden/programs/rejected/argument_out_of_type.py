# REJECT bounds: a default outside of its declared type
from bayesdp.programs import Bool, Database, Int, Private, Public, laplace, program


@program
def f(obs: Database[Bool], *, cutoff: Public[Int[0, 10]] = 30) -> Private[Int]:
    return laplace(sum(obs), epsilon=1)
