# REJECT construct: keyword arguments out of nowhere
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    settings = (("epsilon", 1),)
    return laplace(sum(obs), **settings)
