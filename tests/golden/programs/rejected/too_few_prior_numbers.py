# REJECT prior: three categories, two prior numbers
from bayesdp.programs import Category, Database, Dirichlet, Private, categorical, dirichlet, laplace, noise_aware, observe, program, statistics


@program
def f(votes: Database[Category["a", "b", "c"]]) -> Private[Dirichlet]:
    model = observe(votes, categorical, prior=dirichlet(1, 1))
    return noise_aware(laplace(statistics(model), epsilon=1))
