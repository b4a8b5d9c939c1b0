# ACCEPT (1, 0): a third, three times, is one: fractions are exact.
from bayesdp.programs import Bool, Database, Private, Vector, laplace, program, record

TOTAL = 1
PARTS = 3


@record
class Row:
    a: Bool
    b: Bool
    c: Bool


@program(epsilon=TOTAL)
def thirds(rows: Database[Row]) -> Private[Vector]:
    each = TOTAL / PARTS
    x = laplace(sum(r.a for r in rows), epsilon=each)
    y = laplace(sum(r.b for r in rows), epsilon=each)
    z = laplace(sum(r.c for r in rows), epsilon=each)
    return x, y, z
