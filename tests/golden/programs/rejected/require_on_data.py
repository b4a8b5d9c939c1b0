# REJECT private-control: a precondition on private data tells when it fails
from bayesdp.programs import Bool, Database, Int, Private, laplace, program, require


@program
def f(obs: Database[Bool]) -> Private[Int]:
    require(sum(obs) > 0)
    return laplace(sum(obs), epsilon=1)
