# REJECT private-output: the number of records is private under add-remove
from bayesdp.programs import Bool, Database, Int, Private, program


@program(adjacency="add-remove")
def f(obs: Database[Bool]) -> Private[Int]:
    return obs.size
