# ACCEPT (0.9, 0): the same question of three columns, in a static loop over their names.
from bayesdp.programs import Bool, Database, Private, Vector, count, field, laplace, program, record

COLUMNS = ("age7", "age8", "age9")


@record
class Child:
    age7: Bool
    age8: Bool
    age9: Bool


@program(epsilon=0.9)
def wheezing(children: Database[Child]) -> Private[Vector]:
    counts = ()
    for name in COLUMNS:
        noisy = laplace(count(c for c in children if field(c, name)), epsilon=0.3)
        counts = counts + (noisy,)
    return counts
