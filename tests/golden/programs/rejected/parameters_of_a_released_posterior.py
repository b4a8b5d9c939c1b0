# REJECT type: a released posterior is returned as it is
from bayesdp.programs import Bool, Database, Private, Real, bernoulli, beta, laplace, observe, parameters, plug_in, program, statistics


@program
def f(db: Database[Bool]) -> Private[Real]:
    post = plug_in(laplace(statistics(observe(db, bernoulli, prior=beta(1, 1))), epsilon=1))
    return parameters(post)[0] / (parameters(post)[0] + parameters(post)[1])
