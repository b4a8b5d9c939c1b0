# REJECT import: a library that would see the data
import numpy as np

from bayesdp.programs import Bool, Database, Private, Real, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Real]:
    return laplace(np.sum(obs), epsilon=1)
