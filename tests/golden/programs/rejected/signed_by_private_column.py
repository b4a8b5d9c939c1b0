# REJECT sensitivity: who decides the sign is private: a record goes from 10 to -10
from bayesdp.programs import Category, Database, Private, Real, laplace, program, record


@record
class Patient:
    dose: Real[0, 10]
    arm: Category["drug", "placebo"]


@program
def effect(patients: Database[Patient]) -> Private[Real]:
    signed = sum(p.dose if p.arm == "drug" else -p.dose for p in patients)
    return laplace(signed, epsilon=1, sensitivity=10)
