# REJECT signature: a helper that takes anything
from bayesdp.programs import Bool, Database, Int, Private, helper, laplace, program


@helper
def total(*values):
    return sum(values)


@program
def f(obs: Database[Bool]) -> Private[Int]:
    return laplace(total(sum(obs)), epsilon=1)
