# REJECT effect: repr of a private value
from bayesdp.programs import Bool, Category, Database, Private, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Category]:
    shown = repr(sum(obs))
    return shown
