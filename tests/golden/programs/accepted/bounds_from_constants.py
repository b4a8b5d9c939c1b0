# ACCEPT (0.2, 0): bounds of types from constants, an alias of an alias.
from bayesdp.programs import Database, Int, Private, Public, Real, laplace, program, record


AGE = Int[0, 120]
LO = 18
HI = 90
Adult = Int[LO, HI]


@record
class Row:
    a: Adult
    b: Public[AGE]
    c: Real[LO / 2, HI * 2]


@program
def f(rows: Database[Row]) -> Private[Real]:
    return laplace(sum(r.a + r.c if r.b > LO else r.a for r in rows), epsilon=0.2)
