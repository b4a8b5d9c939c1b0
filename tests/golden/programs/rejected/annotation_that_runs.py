# REJECT annotation: an annotation that would run code
from bayesdp.programs import Bool, Database, Int, Private, helper, laplace, program


@helper
def total(obs: print("seen")):
    return sum(obs)


@program
def f(obs: Database[Bool]) -> Private[Int]:
    return laplace(total(obs), epsilon=1)
