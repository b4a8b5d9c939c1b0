# REJECT private-control: a private sum as a truth value
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    total = sum(obs)
    return laplace(total and 10, epsilon=1)
