# REJECT sensitivity: an assertion that large databases make too small
from bayesdp.programs import Database, Private, Real, laplace, program
@program
def f(db: Database[Real[0, 1]]) -> Private[Real]:
    return laplace(sum(db), epsilon=1, sensitivity=(1 if db.size < 1000000 else 0.5))
