# REJECT private-control: leaving a loop early
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    noisy = 0
    for k in range(10):
        noisy = laplace(sum(obs), epsilon=0.1)
        if noisy > 5:
            break
    return noisy
