# REJECT name: a helper that reads the program's public argument without being given it
from bayesdp.programs import Bool, Database, Int, Private, Public, helper, laplace, program


@helper
def scaled(x):
    return level * x


@program
def f(obs: Database[Bool], *, level: Public[Int[1, 9]] = 2) -> Private[Int]:
    return laplace(scaled(sum(obs)), epsilon=1)
