# REJECT effect: getattr reaches what attributes can't
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    rows = getattr(obs, "rows")
    return laplace(sum(rows), epsilon=1)
