# REJECT module: a class that is no record
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


class Analysis:
    @program
    def f(obs: Database[Bool]) -> Private[Int]:
        return laplace(sum(obs), epsilon=1)
