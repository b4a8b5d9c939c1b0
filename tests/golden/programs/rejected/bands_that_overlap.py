# REJECT sensitivity: the bands overlap between 0 and 0.5, so one record moves both counts
from bayesdp.programs import Database, Private, Real, Vector, count, laplace, program


@program(adjacency="add-remove")
def bands(changes: Database[Real[-1, 1]]) -> Private[Vector]:
    return laplace((count(x for x in changes if x <= 0.5), count(x for x in changes if x > 0)), epsilon=1, sensitivity=1)
