# REJECT effect: a text made from a private value
from bayesdp.programs import Bool, Category, Database, Private, program


@program
def f(obs: Database[Bool]) -> Private[Category]:
    return "there are %d" % sum(obs)
