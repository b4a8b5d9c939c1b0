# REJECT annotation: a column with a value
from bayesdp.programs import Bool, Database, Int, Private, laplace, program, record


@record
class Row:
    x: Bool = True


@program
def f(rows: Database[Row]) -> Private[Int]:
    return laplace(sum(r.x for r in rows), epsilon=1)
