# REJECT name: two helpers of one name: the second would win
from bayesdp.programs import Bool, Database, Int, Private, clip, helper, laplace, program


@helper
def held(x):
    return clip(x, 0, 1)


@helper
def held(x):
    return x


@program
def f(obs: Database[Bool]) -> Private[Int]:
    return laplace(held(sum(obs)), epsilon=1, sensitivity=1)
