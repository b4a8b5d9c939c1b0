# REJECT type: one entry of the statistics is not the statistics
from bayesdp.programs import Category, Database, Dirichlet, Private, categorical, dirichlet, laplace, noise_aware, observe, program, statistics


@program
def f(votes: Database[Category["a", "b"]]) -> Private[Dirichlet]:
    counts = statistics(observe(votes, categorical, prior=dirichlet(1, 1)))
    return noise_aware(laplace(counts[0], epsilon=1))
