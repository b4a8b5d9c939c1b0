# ACCEPT (0.5, 0): min, max and abs inside a row have the bounds that follow.
from bayesdp.programs import Database, Private, Real, laplace, program, record


@record
class Point:
    x: Real[-10, 10]
    y: Real[-10, 10]


@program
def spread(points: Database[Point]) -> Private[Real]:
    distance = sum(max(abs(p.x), abs(p.y)) for p in points)
    return laplace(distance, epsilon=0.5, sensitivity=10)
