# REJECT budget: the price of one step of a loop
from bayesdp.programs import Bool, Database, Private, Vector, laplace, program


@program(epsilon=0.1)
def f(obs: Database[Bool]) -> Private[Vector]:
    found = ()
    for k in (1, 2, 3):
        found = found + (laplace(sum(obs), epsilon=0.1),)
    return found
