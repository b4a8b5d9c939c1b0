# REJECT arguments: Gaussian noise has no cost without a delta
from bayesdp.programs import Bool, Database, Int, Private, gaussian, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    return gaussian(sum(obs), epsilon=1)
