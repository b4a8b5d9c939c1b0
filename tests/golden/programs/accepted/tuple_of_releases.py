# ACCEPT (0.6, 0.000001): three releases in one return, and arithmetic on them.
from bayesdp.programs import Bool, Database, Int, Private, Real, Vector, gaussian, laplace, program, record


@record
class Row:
    x: Real[0, 1]
    y: Real[0, 1]
    z: Bool


@program(epsilon=0.6, delta=1e-6)
def summary(rows: Database[Row]) -> Private[tuple[Real, Int, Vector]]:
    return (
        laplace(sum(r.x for r in rows), epsilon=0.1),
        laplace(sum(r.z for r in rows), epsilon=0.2),
        gaussian(sum((r.x, r.y, r.x * r.y) for r in rows), epsilon=0.3, delta=1e-6),
    )
