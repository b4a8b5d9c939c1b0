# ACCEPT (0.5, 0): sums of two columns at once: one record moves them by 10 + 4.
from bayesdp.programs import Database, Private, Real, Vector, laplace, program, record


@record
class Row:
    x: Real[0, 10]
    y: Real[-2, 2]


@program
def sums(rows: Database[Row]) -> Private[Vector]:
    sx = sum(r.x for r in rows)
    sy = sum(r.y for r in rows)
    return laplace((sx, sy), epsilon=0.5, sensitivity=14)
