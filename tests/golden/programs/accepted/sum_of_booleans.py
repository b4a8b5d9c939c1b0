# ACCEPT (0.25, 0): truth values count as 0 and 1; two of them move a record's sum by 2.
from bayesdp.programs import Bool, Database, Int, Private, laplace, program, record


@record
class Child:
    wheeze: Bool
    cough: Bool


@program
def symptoms(children: Database[Child]) -> Private[Int]:
    total = sum(c.wheeze + c.cough for c in children)
    return laplace(total, epsilon=0.25, sensitivity=2)
