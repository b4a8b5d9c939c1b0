# REJECT private-output: a private sum is returned as it is
from bayesdp.programs import Bool, Database, Int, Private, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    return sum(obs)
