# REJECT attribute: globals() as a way around names
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    return globals()["laplace"](sum(obs), epsilon=1)
