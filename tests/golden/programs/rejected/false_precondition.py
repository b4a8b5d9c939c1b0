# REJECT precondition: a precondition on a public argument that is false
from bayesdp.programs import Bool, Database, Int, Private, Public, laplace, program, require


@program
def f(obs: Database[Bool], *, k: Public[Int[0, 9]] = 3) -> Private[Int]:
    require(k > 5)
    return laplace(sum(obs), epsilon=1)
