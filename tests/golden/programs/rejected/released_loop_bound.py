# REJECT static: a range of a released length has no known cost
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    noisy = laplace(sum(obs), epsilon=0.5)
    total = 0
    for _ in range(noisy):
        total = total + laplace(sum(obs), epsilon=0.1)
    return total
