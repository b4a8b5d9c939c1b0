# REJECT noise: the classical formula at epsilon 10: sigma .48448 is far too little
from bayesdp.programs import Bool, Database, Int, Private, gaussian, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    return gaussian(sum(obs), epsilon=10, delta=1e-5, sigma=0.48448)
