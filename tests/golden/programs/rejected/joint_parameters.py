# REJECT sensitivity: both parameters of a posterior at the price of one
from bayesdp.programs import Bool, Database, Private, Vector, bernoulli, beta, infer, laplace, observe, parameters, program


@program
def f(obs: Database[Bool]) -> Private[Vector]:
    posterior = infer(observe(obs, bernoulli, prior=beta(1, 1)))
    return laplace(parameters(posterior), epsilon=1, sensitivity=1)
