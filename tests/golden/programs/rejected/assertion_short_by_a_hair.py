# REJECT sensitivity: an assertion that looks like the true number when rounded
from bayesdp.programs import Category, Database, Private, Vector, laplace, onehot, program
@program
def f(obs: Database[Category["a","b","c"]]) -> Private[Vector]:
    return laplace(sum(onehot(x) for x in obs), epsilon=1, sensitivity=1.9999999999999999999999999)
