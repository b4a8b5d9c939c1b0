# REJECT private-control: a private condition inside `and`
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    noisy = laplace(sum(obs), epsilon=1)
    if noisy > 3 and sum(obs) > 3:
        noisy = 0
    return noisy
