# REJECT arguments: a release states what it costs
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    return laplace(sum(obs))
