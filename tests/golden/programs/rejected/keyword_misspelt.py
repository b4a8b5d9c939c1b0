# REJECT arguments: an argument that the release doesn't have
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    return laplace(sum(obs), epsilon=1, sensitvity=1)
