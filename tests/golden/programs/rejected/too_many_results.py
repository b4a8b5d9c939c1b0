# REJECT type: three values, two announced
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program
def f(obs: Database[Bool]) -> Private[tuple[Int, Int]]:
    noisy = laplace(sum(obs), epsilon=1)
    return noisy, noisy, noisy
