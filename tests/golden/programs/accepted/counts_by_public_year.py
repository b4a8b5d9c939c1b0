# ACCEPT (1, 0): public years as numbers: counts at 0.25 each.
from bayesdp.programs import Bool, Category, Database, Int, Private, Public, count, laplace, program, record


@record
class Visit:
    child: Category["a", "b"]
    year: Public[Int[7, 10]]
    wheeze: Bool


@program
def f(visits: Database[Visit]) -> Private[tuple[Int, ...]]:
    found = ()
    for year in range(7, 11):
        found = found + (laplace(count(v for v in visits if v.year == year and v.wheeze), epsilon=0.25),)
    return found
