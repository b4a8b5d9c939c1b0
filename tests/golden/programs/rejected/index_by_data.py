# REJECT private-control: which entry is taken tells a count
from bayesdp.programs import Bool, Database, Int, Private, count, program
@program
def f(obs: Database[Bool]) -> Private[Int]:
    return (1, 2, 3)[count(obs)]
