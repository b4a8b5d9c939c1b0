# REJECT private-control: candidates that a private sum filters
from bayesdp.programs import Bool, Database, Int, Private, exponential, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    return exponential(
        score=lambda k: -abs(sum(obs) - k), candidates=[k for k in range(10) if k <= sum(obs)], epsilon=1
    )
