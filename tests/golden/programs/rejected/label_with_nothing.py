# REJECT syntax: two labels that look the same
from bayesdp.programs import Bool, Category, Database, Int, Private, count, laplace, program


@program
def f(obs: Database[Category["a", "a​"]]) -> Private[Int]:
    return laplace(count(x for x in obs if x == "a"), epsilon=1)
