# ACCEPT (0.5, 0): under add-remove both counts of a coin are statistics; a record enters one of them, l1 sensitivity 1.
from bayesdp.programs import Beta, Bool, Database, Private, bernoulli, beta, laplace, noise_aware, observe, program, statistics


@program(adjacency="add-remove")
def coin(obs: Database[Bool]) -> Private[Beta]:
    model = observe(obs, bernoulli, prior=beta(1, 1))
    return noise_aware(laplace(statistics(model), epsilon=0.5, sensitivity=1))
