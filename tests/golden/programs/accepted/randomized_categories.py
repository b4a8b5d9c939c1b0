# ACCEPT (2, 0): randomized response on a category of three labels, then the posterior that knows about it.
from bayesdp.programs import Category, Database, Dirichlet, Private, categorical, dirichlet, noise_aware, observe, program, randomized_response


@program(epsilon=2)
def party(votes: Database[Category["left", "right", "none"]]) -> Private[Dirichlet]:
    noisy = randomized_response(votes, epsilon=2)
    return noise_aware(observe(noisy, categorical, prior=dirichlet(1, 1, 1)))
