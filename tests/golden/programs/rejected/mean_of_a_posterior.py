# REJECT attribute: the result has the mean
from bayesdp.programs import Bool, Database, Private, Real, bernoulli, beta, laplace, noise_aware, observe, program, statistics


@program(epsilon=1)
def f(xs: Database[Bool]) -> Private[Real]:
    post = noise_aware(laplace(statistics(observe(xs, bernoulli, prior=beta(1, 1))), epsilon=1))
    return post.mean
