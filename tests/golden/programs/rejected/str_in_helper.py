# REJECT effect: str of a private value, in a helper
from bayesdp.programs import Bool, Category, Database, Private, helper, program


@helper
def label(total):
    return "total: " + str(total)


@program
def f(obs: Database[Bool]) -> Private[Category]:
    return label(sum(obs))
