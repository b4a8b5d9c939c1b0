# ACCEPT (1, 0): fold tracking a saturating counter: min(acc + x, 100) is 1-Lipschitz (tier B)
from bayesdp.programs import Bool, Database, Int, Private, clip, fold, helper, laplace, program


@helper
def step(acc, x):
    return clip(acc + (1 if x else 0), 0, 100)

@program
def sat(db: Database[Bool]) -> Private[Int]:
    return laplace(fold(db, 0, step), epsilon=1, sensitivity=1)
