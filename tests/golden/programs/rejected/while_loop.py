# REJECT private-control: a loop that ends when the data say so
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    steps = 0
    while laplace(sum(obs), epsilon=0.1) < 10:
        steps = steps + 1
    return steps
