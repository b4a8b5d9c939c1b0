# ACCEPT (0.5, 0): a conditional expression on a released value, both sides free.
from bayesdp.programs import Bool, Database, Int, Private, clip, laplace, program


@program
def shown(obs: Database[Bool]) -> Private[Int]:
    noisy = laplace(sum(obs), epsilon=0.5)
    return 0 if noisy < 5 else clip(noisy, 0, obs.size)
