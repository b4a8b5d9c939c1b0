# REJECT attribute: a text made from a private value, by a method
from bayesdp.programs import Bool, Category, Database, Private, program


@program
def f(obs: Database[Bool]) -> Private[Category]:
    return "there are {}".format(sum(obs))
