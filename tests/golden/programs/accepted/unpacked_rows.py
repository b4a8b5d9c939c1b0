# ACCEPT (1, 0): rows of two entries, unpacked; their sums jointly.
from bayesdp.programs import Database, Private, Real, clip, laplace, program, record


@record
class Person:
    height: Real[50, 250]
    income: Real[0, 100000]


@program
def f(people: Database[Person]) -> Private[tuple[Real, Real]]:
    pairs = ((clip(p.height / 250, 0, 1), clip(p.income / 1000, 0, 1)) for p in people)
    sxy, sx = laplace((sum(x * y for x, y in pairs), sum(x for x, y in pairs)), epsilon=1)
    return sxy, sx
