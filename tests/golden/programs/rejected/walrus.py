# REJECT construct: assignment inside an expression
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    return laplace((total := sum(obs)), epsilon=1) + total
