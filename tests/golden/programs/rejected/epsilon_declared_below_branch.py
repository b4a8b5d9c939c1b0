# REJECT budget: a choice between two releases costs the dearer one
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program(epsilon=0.3)
def f(obs: Database[Bool]) -> Private[Int]:
    noisy = laplace(sum(obs), epsilon=0.1)
    return laplace(sum(obs), epsilon=0.1) if noisy > 3 else laplace(sum(obs), epsilon=0.3)
