# REJECT budget: a helper that releases twice, called once
from bayesdp.programs import Bool, Database, Private, Real, helper, laplace, program


@helper
def averaged(x):
    """Two noisy answers are better than one."""
    return (laplace(x, epsilon=0.5) + laplace(x, epsilon=0.5)) / 2


@program(epsilon=0.5)
def f(obs: Database[Bool]) -> Private[Real]:
    return averaged(sum(obs))
