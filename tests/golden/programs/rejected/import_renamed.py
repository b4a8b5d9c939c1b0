# REJECT import: a name of the language under another name
from bayesdp.programs import Bool, Database, Int, Private, program
from bayesdp.programs import count as laplace


@program
def f(obs: Database[Bool]) -> Private[Int]:
    return laplace(obs)
