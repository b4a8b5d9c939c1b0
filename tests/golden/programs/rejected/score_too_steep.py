# REJECT sensitivity: a score that moves by 3 at the price of 1
from bayesdp.programs import Bool, Database, Int, Private, exponential, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    return exponential(score=lambda k: -3 * abs(sum(obs) - k), candidates=range(10), epsilon=1, sensitivity=1)
