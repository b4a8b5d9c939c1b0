# ACCEPT (0.4, 0): under add-remove the number of records is private, and a sum moves by its largest value.
from bayesdp.programs import Database, Int, Private, Real, clip, count, laplace, program, record


@record
class Visit:
    minutes: Int[0, 600]


@program(adjacency="add-remove", epsilon=0.4)
def minutes(visits: Database[Visit]) -> Private[tuple[Real, Int]]:
    total = laplace(sum(clip(v.minutes, 0, 120) for v in visits), epsilon=0.3, sensitivity=120)
    number = laplace(count(visits), epsilon=0.1)
    return total / max(number, 1), number
