# ACCEPT (1, 0): a prior chosen in one line, by a released count
from bayesdp.programs import Category, Database, Dirichlet, Private, categorical, count, dirichlet, laplace, observe, plug_in, program, statistics


@program(epsilon=1)
def f(db: Database[Category["a", "b", "c"]]) -> Private[Dirichlet]:
    k = laplace(count(x for x in db if x == "a"), epsilon=0.2)
    prior = dirichlet(1, 1, 1) if k > 10 else dirichlet(1, 2, 1)
    return plug_in(laplace(statistics(observe(db, categorical, prior=prior)), epsilon=0.8))
