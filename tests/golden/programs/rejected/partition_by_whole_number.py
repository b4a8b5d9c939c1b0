# REJECT type: pieces are of labels, and whole numbers can be declared as such
from bayesdp.programs import Bool, Database, Int, Private, Public, Vector, count, laplace, partition, program, record


@record
class Event:
    year: Public[Int[2019, 2021]]
    hurt: Bool


@program(epsilon=0.3)
def per_year(events: Database[Event]) -> Private[Vector]:
    out = ()
    for year, part in partition(events, by="year"):
        out = out + (laplace(count(e for e in part if e.hurt), epsilon=0.3),)
    return out
