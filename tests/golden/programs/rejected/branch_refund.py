# REJECT budget: the dearer branch counts, whichever is taken
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program(epsilon=0.2)
def f(obs: Database[Bool]) -> Private[Int]:
    noisy = laplace(sum(obs), epsilon=0.1)
    if noisy > 10**6:
        noisy = laplace(sum(obs), epsilon=1)
    return noisy
