# REJECT effect: opening something
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    with open("leak.txt") as out:
        noisy = laplace(sum(obs), epsilon=1)
    return noisy
