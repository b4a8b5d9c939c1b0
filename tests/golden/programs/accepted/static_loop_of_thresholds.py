# ACCEPT (0.8, 0): four counts at 0.2 each.
from bayesdp.programs import Database, Int, Private, Real, Vector, count, laplace, program

THRESHOLDS = (20, 40, 60, 80)
EACH = 0.8 / 4


@program(epsilon=0.8)
def tail_counts(ages: Database[Int[0, 120]]) -> Private[Vector]:
    """How many are at least as old as each threshold."""
    found = ()
    for threshold in THRESHOLDS:
        found = found + (laplace(count(a for a in ages if a >= threshold), epsilon=EACH),)
    return found
