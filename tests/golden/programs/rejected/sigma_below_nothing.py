# REJECT noise: a negative deviation
from bayesdp.programs import Bool, Database, Int, Private, count, gaussian, program
@program
def f(obs: Database[Bool]) -> Private[Int]:
    return gaussian(count(obs), epsilon=1, delta=1e-6, sigma=-100)
