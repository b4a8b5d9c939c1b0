# REJECT sensitivity: a public factor scales the sensitivity too
from bayesdp.programs import Bool, Database, Private, Real, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Real]:
    return laplace(10 * sum(obs), epsilon=1, sensitivity=1)
