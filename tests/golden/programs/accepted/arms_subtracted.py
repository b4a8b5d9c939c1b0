# ACCEPT (1, 0): the difference of the sums of two public arms moves by 10, for a record is in one of them.
from bayesdp.programs import Category, Database, Private, Public, Real, laplace, program, record


@record
class Patient:
    dose: Real[0, 10]
    arm: Public[Category["drug", "placebo"]]


@program
def effect(patients: Database[Patient]) -> Private[Real]:
    drug = sum(p.dose for p in patients if p.arm == "drug")
    placebo = sum(p.dose for p in patients if p.arm == "placebo")
    return laplace(drug - placebo, epsilon=1, sensitivity=10)
