# REJECT effect: printing a private value
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    print(sum(obs))
    return laplace(sum(obs), epsilon=1)
