# REJECT module: a program that waits
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program
async def f(obs: Database[Bool]) -> Private[Int]:
    return laplace(sum(obs), epsilon=1)
