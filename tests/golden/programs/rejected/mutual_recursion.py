# REJECT recursion: two helpers that call each other
from bayesdp.programs import Bool, Database, Int, Private, helper, laplace, program


@helper
def even(x):
    return odd(x)


@helper
def odd(x):
    return even(x)


@program
def f(obs: Database[Bool]) -> Private[Int]:
    return laplace(even(sum(obs)), epsilon=1)
