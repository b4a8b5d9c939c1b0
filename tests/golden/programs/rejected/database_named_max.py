# REJECT name: a database that hides a builtin
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program
def f(max: Database[Bool]) -> Private[Int]:
    return laplace(sum(max), epsilon=1)
