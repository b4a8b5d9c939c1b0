# REJECT private-control: not of a private count
from bayesdp.programs import Bool, Bool, Database, Private, count, program


@program
def f(obs: Database[Bool]) -> Private[Bool]:
    return not count(obs)
