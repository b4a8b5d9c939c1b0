# ACCEPT (0.2, 0): both parameters of the posterior at once: l1 sensitivity 2.
from bayesdp.programs import Bool, Database, Private, Vector, bernoulli, beta, infer, laplace, observe, parameters, program


@program
def both(obs: Database[Bool]) -> Private[Vector]:
    posterior = infer(observe(obs, bernoulli, prior=beta(1, 1)))
    return laplace(parameters(posterior), epsilon=0.2, sensitivity=2)
