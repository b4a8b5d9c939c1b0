# REJECT private-control: the number of records is private where they enter and leave
from bayesdp.programs import Bool, Database, Int, Private, count, laplace, program, require
@program(adjacency="add-remove")
def f(obs: Database[Bool]) -> Private[Int]:
    require(obs.size > 3)
    return laplace(count(obs), epsilon=1)
