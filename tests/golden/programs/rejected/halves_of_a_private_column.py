# REJECT sensitivity: a record leaves one half and enters the other: both sums move by 10
from bayesdp.programs import Bool, Database, Private, Real, Vector, laplace, program, record


@record
class Patient:
    dose: Real[0, 10]
    treated: Bool


@program
def doses(patients: Database[Patient]) -> Private[Vector]:
    return laplace((sum(p.dose for p in patients if p.treated), sum(p.dose for p in patients if not p.treated)), epsilon=1, sensitivity=10)
