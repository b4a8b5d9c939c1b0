# REJECT noise: no noise
from bayesdp.programs import Bool, Database, Int, Private, count, gaussian, program
@program
def f(obs: Database[Bool]) -> Private[Int]:
    return gaussian(count(obs), epsilon=1, delta=1e-6, sigma=0)
