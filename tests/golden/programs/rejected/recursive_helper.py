# REJECT recursion: a helper that calls itself
from bayesdp.programs import Bool, Database, Int, Private, helper, laplace, program


@helper
def again(obs, k):
    return laplace(sum(obs), epsilon=1) + again(obs, k - 1)


@program
def f(obs: Database[Bool]) -> Private[Int]:
    return again(obs, 3)
