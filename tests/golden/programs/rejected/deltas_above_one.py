# REJECT budget: two deltas that promise nothing together
from bayesdp.programs import Bool, Database, Int, Private, count, gaussian, program
@program
def f(obs: Database[Bool]) -> Private[tuple[Int, Int]]:
    return gaussian(count(obs), epsilon=1, delta=0.6), gaussian(count(obs), epsilon=1, delta=0.6)
