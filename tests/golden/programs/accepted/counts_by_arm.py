# ACCEPT (0.5, 0): of two counts in public arms a record moves one, by 1.
from bayesdp.programs import Category, Database, Private, Public, Real, Vector, count, laplace, program, record


@record
class Patient:
    dose: Real[0, 10]
    arm: Public[Category["drug", "placebo"]]


@program
def high(patients: Database[Patient]) -> Private[Vector]:
    counts = tuple(count(p for p in patients if p.arm == arm and p.dose > 5) for arm in ("drug", "placebo"))
    return laplace(counts, epsilon=0.5, sensitivity=1)
