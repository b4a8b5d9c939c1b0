# REJECT type: whole numbers are no labels until they are declared so
from bayesdp.programs import Database, Dirichlet, Int, Private, categorical, dirichlet, laplace, noise_aware, observe, program, statistics


@program
def f(db: Database[Int[1, 5]]) -> Private[Dirichlet]:
    m = observe(db, categorical, prior=dirichlet(1, 1, 1, 1, 1))
    return noise_aware(laplace(statistics(m), epsilon=1))
