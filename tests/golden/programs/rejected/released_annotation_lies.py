# REJECT annotation: an annotation that announces another kind
from bayesdp.programs import Beta, Bool, Database, Int, Private, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    noisy: Beta = laplace(sum(obs), epsilon=1)
    return noisy
