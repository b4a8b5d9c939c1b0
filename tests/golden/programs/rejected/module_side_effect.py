# REJECT module: a statement at module level that does something
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


print("loaded")


@program
def f(obs: Database[Bool]) -> Private[Int]:
    return laplace(sum(obs), epsilon=1)
