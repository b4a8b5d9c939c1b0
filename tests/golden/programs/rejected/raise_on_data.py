# REJECT exception: raising on data, in a helper
from bayesdp.programs import Bool, Database, Int, Private, helper, laplace, program


@helper
def enough(total):
    if total < 3:
        raise ValueError(total)
    return total


@program
def f(obs: Database[Bool]) -> Private[Int]:
    return laplace(enough(sum(obs)), epsilon=1)
