# REJECT private-control: a conditional expression on a private sum
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    total = sum(obs)
    return laplace(total if total >= 5 else 0, epsilon=1)
