# ACCEPT (0.5, 0): two numbers of a row of which one is 0, as a public column says: 10 together.
from bayesdp.programs import Category, Database, Private, Public, Real, Vector, laplace, program, record


@record
class Patient:
    dose: Real[0, 10]
    arm: Public[Category["drug", "placebo"]]


@program
def doses(patients: Database[Patient]) -> Private[Vector]:
    both = sum((p.dose if p.arm == "drug" else 0, (p.arm == "placebo") * p.dose) for p in patients)
    return laplace(both, epsilon=0.5, sensitivity=10)
