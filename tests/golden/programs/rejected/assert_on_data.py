# REJECT exception: an assertion that fails on data
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    assert sum(obs) > 3, "too few"
    return laplace(sum(obs), epsilon=1)
