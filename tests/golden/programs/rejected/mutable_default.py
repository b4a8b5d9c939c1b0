# REJECT static: a default argument that remembers
from bayesdp.programs import Bool, Database, Int, Private, helper, laplace, program


@helper
def remember(value, seen=[]):
    return value


@program
def f(obs: Database[Bool]) -> Private[Int]:
    return laplace(remember(sum(obs)), epsilon=1)
