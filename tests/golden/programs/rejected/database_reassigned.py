# REJECT name: the database under another meaning
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    obs = (x for x in obs if x)
    return laplace(sum(obs), epsilon=1)
