# REJECT module: another decorator under @program
from bayesdp.programs import Bool, Database, Int, Private, helper, laplace, program


@program
@helper
def f(obs: Database[Bool]) -> Private[Int]:
    return laplace(sum(obs), epsilon=1)
