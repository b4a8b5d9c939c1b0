# REJECT construct: a function that closes over data
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    def total():
        return sum(obs)

    return laplace(total(), epsilon=1)
