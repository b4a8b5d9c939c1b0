# REJECT noise: the classical formula's neighbour: sigma 3.73063 has delta 1.03457e-5 on whole numbers
from bayesdp.programs import Bool, Database, Int, Private, gaussian, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    return gaussian(sum(obs), epsilon=1, delta=1e-5, sigma=3.73063)
