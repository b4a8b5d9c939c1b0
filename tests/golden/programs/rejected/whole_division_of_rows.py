# REJECT construct: classes are sums of comparisons
from bayesdp.programs import Database, Int, Private, Vector, laplace, onehot, program


@program(epsilon=1)
def f(db: Database[Int[0, 99]]) -> Private[Vector]:
    return laplace(sum(onehot(a // 10, 10) for a in db), epsilon=1)
