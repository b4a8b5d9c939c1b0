# ACCEPT (0.7, 0.00001): a 2 x 2 table of two truth values with Gaussian noise, l2 sensitivity sqrt 2.
from bayesdp.programs import Bool, Database, Private, Vector, cross, gaussian, onehot, program, record


@record
class Child:
    wheeze: Bool
    smoking: Bool


@program(epsilon=0.7, delta=1e-5)
def table(children: Database[Child]) -> Private[Vector]:
    return gaussian(sum(onehot(cross(c.wheeze, c.smoking)) for c in children), epsilon=0.7, delta=1e-5)
