# REJECT name: a Greek letter in a local name
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    nοisy = sum(obs)
    noisy = laplace(sum(obs), epsilon=1)
    return noisy
