# REJECT module: a loop at module level
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


for K in range(3):
    pass


@program
def f(obs: Database[Bool]) -> Private[Int]:
    return laplace(sum(obs), epsilon=1)
