# REJECT name: a full-width laplace is laplace to Python
from bayesdp.programs import Bool, Database, Int, Private, helper, program


@helper
def ｌａｐｌａｃｅ(value, epsilon):
    return value


@program
def f(obs: Database[Bool]) -> Private[Int]:
    return laplace(sum(obs), epsilon=1)
