# ACCEPT (0.4, 0): public year within public region: pieces of pieces cost the dearest.
from bayesdp.programs import Bool, Category, Database, Private, Public, Vector, count, laplace, partition, program, record


@record
class Visit:
    region: Public[Category["north", "south"]]
    year: Public[Category["7", "8"]]
    ill: Bool


@program(epsilon=0.4)
def cells(visits: Database[Visit]) -> Private[Vector]:
    found = ()
    for region, here in partition(visits, by="region"):
        for year, now in partition(here, by="year"):
            found = found + (laplace(count(v for v in now if v.ill), epsilon=0.4),)
    return found
