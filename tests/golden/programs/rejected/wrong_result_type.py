# REJECT type: a Beta is announced and a number returned
from bayesdp.programs import Beta, Bool, Database, Private, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Beta]:
    return laplace(sum(obs), epsilon=1)
