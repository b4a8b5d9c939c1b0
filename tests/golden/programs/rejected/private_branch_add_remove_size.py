# REJECT private-control: under add-remove the number of records is private
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program(adjacency="add-remove")
def f(obs: Database[Bool]) -> Private[Int]:
    epsilon = 1
    if obs.size < 20:
        answer = 0
    else:
        answer = laplace(sum(obs), epsilon=epsilon)
    return answer
