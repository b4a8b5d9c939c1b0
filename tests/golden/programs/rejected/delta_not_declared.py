# REJECT budget: a declared epsilon without the delta that Gaussian noise costs
from bayesdp.programs import Bool, Database, Int, Private, gaussian, program


@program(epsilon=1)
def f(obs: Database[Bool]) -> Private[Int]:
    return gaussian(sum(obs), epsilon=1, delta=1e-6)
