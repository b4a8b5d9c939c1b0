# REJECT size: a tuple that doubles forty times
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    many = (0, 1)
    for _ in range(40):
        many = many + many
    return laplace(sum(obs), epsilon=1) + len(many)
