# REJECT arguments: an adjacency that the language doesn't have
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program(adjacency="add-or-replace")
def f(obs: Database[Bool]) -> Private[Int]:
    return laplace(sum(obs), epsilon=1)
