# UNKNOWN unproved: a fold inside a partition
from bayesdp.programs import Category, Database, Int, Private, Real, fold, helper, laplace, partition, program, record
@helper
def step(acc, x):
    return acc + x.v
@record
class P:
    v: Int[0, 9]
    g: Category["a", "b"]
@program
def f(obs: Database[P]) -> Private[tuple[Real, ...]]:
    return tuple(laplace(fold(q, 0, step), epsilon=1) for q in partition(obs, by="g"))
