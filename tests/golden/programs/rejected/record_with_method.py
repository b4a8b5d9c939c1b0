# REJECT annotation: a record that computes
from bayesdp.programs import Bool, Database, Int, Private, laplace, program, record


@record
class Row:
    x: Bool

    def twice(self):
        return 2 * self.x


@program
def f(rows: Database[Row]) -> Private[Int]:
    return laplace(sum(r.x for r in rows), epsilon=1)
