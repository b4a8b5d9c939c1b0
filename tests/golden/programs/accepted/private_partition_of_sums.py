# ACCEPT (0.8, 0): a sum in [0, 40] moves by 40 within a piece and when a record enters: 0.4 in each of two pieces.
from bayesdp.programs import Bool, Database, Private, Real, clip, laplace, partition, program, record


@record
class Person:
    treated: Bool
    score: Real[0, 100]


@program(epsilon=0.8)
def totals(people: Database[Person]) -> Private[tuple[Real, Real]]:
    found = ()
    for label, group in partition(people, by="treated"):
        found = found + (laplace(sum(clip(p.score, 0, 40) for p in group), epsilon=0.4),)
    return found
