# REJECT construct: a precondition on candidates
from bayesdp.programs import Bool, Database, Int, Private, exponential, program, require


@program
def f(obs: Database[Bool]) -> Private[Int]:
    return exponential(score=lambda k: require(k > 3), candidates=range(10), epsilon=1)
