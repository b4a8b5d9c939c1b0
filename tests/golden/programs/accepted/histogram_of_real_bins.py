# ACCEPT (1, 0): five bins of a real column; a record lies in one of them, so 2 is enough.
from bayesdp.programs import Database, Private, Real, Vector, count, laplace, program


@program
def f(incomes: Database[Real[0, 100]]) -> Private[Vector]:
    bins = tuple(count(x for x in incomes if b <= x < b + 20) for b in (0, 20, 40, 60, 80))
    return laplace(bins, epsilon=1, sensitivity=2)
