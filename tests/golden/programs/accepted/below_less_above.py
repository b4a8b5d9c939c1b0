# ACCEPT (1, 0): who enters is below or above, not both: the difference of the counts moves by 1 under add-remove.
from bayesdp.programs import Database, Private, Real, count, laplace, program


@program(adjacency="add-remove")
def balance(changes: Database[Real[-1, 1]]) -> Private[Real]:
    return laplace(count(x for x in changes if x <= 0) - count(x for x in changes if x > 0), epsilon=1, sensitivity=1)
