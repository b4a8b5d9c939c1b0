# REJECT sensitivity: one coordinate's sensitivity for a joint release
from bayesdp.programs import Database, Private, Real, Vector, laplace, program, record


@record
class Row:
    x: Real[0, 10]
    y: Real[0, 10]


@program
def f(rows: Database[Row]) -> Private[Vector]:
    return laplace(sum((r.x, r.y) for r in rows), epsilon=1, sensitivity=10)
