# REJECT name: a helper that reads the program's database without being given it
from bayesdp.programs import Bool, Database, Int, Private, helper, laplace, program


@helper
def total():
    return sum(obs)


@program
def f(obs: Database[Bool]) -> Private[Int]:
    return laplace(total(), epsilon=1)
