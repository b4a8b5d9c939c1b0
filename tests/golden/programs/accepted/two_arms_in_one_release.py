# ACCEPT (0.5, 0): a record is in one of two public arms: its dose moves one of the two sums by 10, never both.
from bayesdp.programs import Category, Database, Private, Public, Real, Vector, laplace, program, record


@record
class Patient:
    dose: Real[0, 10]
    arm: Public[Category["drug", "placebo"]]


@program
def doses(patients: Database[Patient]) -> Private[Vector]:
    sums = (sum(p.dose for p in patients if p.arm == "drug"), sum(p.dose for p in patients if p.arm == "placebo"))
    return laplace(sums, epsilon=0.5, sensitivity=10)
