# ACCEPT (1, 0): fold clip alone, int rows
from bayesdp.programs import Database, Int, Private, clip, fold, helper, laplace, program


@helper
def step(acc, x):
    return acc + clip(x, 0, 3)

@program
def sat(db: Database[Int[0, 9]]) -> Private[Int]:
    return laplace(fold(db, 0, step), epsilon=1, sensitivity=3)
