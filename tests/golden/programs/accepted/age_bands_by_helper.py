# ACCEPT (0.5, 0): a helper's whole number is a cell; one record leaves one and enters another
from bayesdp.programs import Database, Int, Private, Vector, helper, laplace, onehot, program


@helper
def band(age):
    if age < 18:
        found = 0
    elif age < 65:
        found = 1
    else:
        found = 2
    return found


@program
def ages(people: Database[Int[0, 120]]) -> Private[Vector]:
    return laplace(sum(onehot(band(age), 3) for age in people), epsilon=0.5, sensitivity=2)
