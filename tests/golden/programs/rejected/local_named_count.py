# REJECT name: a local name that hides a function of the language
from bayesdp.programs import Bool, Database, Int, Private, count, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    count = sum(obs)
    return laplace(count, epsilon=1)
