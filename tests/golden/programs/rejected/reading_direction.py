# REJECT syntax: a comment that shows the program otherwise than it is
from bayesdp.programs import Bool, Category, Database, Int, Private, count, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    return laplace(count(obs), epsilon=1)  # was: ‮)1=nolispe ,)sbo(tnuoc(ecalpal
