# REJECT type: answers about truth values are no counts
from bayesdp.programs import Bool, Database, Gamma, Private, gamma, noise_aware, observe, poisson, program, randomized_response


@program
def f(obs: Database[Bool]) -> Private[Gamma]:
    noisy = randomized_response(obs, epsilon=1)
    return noise_aware(observe(noisy, poisson(exposure=1), prior=gamma(1, rate=1)))
