# ACCEPT (1, 0): a public column decides the sign, so a dose moves the sum by 10 and not by 20.
from bayesdp.programs import Category, Database, Private, Public, Real, laplace, program, record


@record
class Patient:
    dose: Real[0, 10]
    arm: Public[Category["drug", "placebo"]]


@program
def effect(patients: Database[Patient]) -> Private[Real]:
    signed = sum(p.dose if p.arm == "drug" else -p.dose for p in patients)
    return laplace(signed, epsilon=1, sensitivity=10)
