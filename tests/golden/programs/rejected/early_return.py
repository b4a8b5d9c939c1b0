# REJECT return: a return before the end tells which way the program went
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    noisy = laplace(sum(obs), epsilon=1)
    if noisy < 3:
        return 0
    return noisy
