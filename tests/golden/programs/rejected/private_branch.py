# REJECT private-control: which query is answered depends on a private count
from bayesdp.programs import Bool, Database, Int, Private, count, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    if count(obs) > 10:
        answer = laplace(count(obs), epsilon=1)
    else:
        answer = 0
    return answer
