# ACCEPT (0.5, 0): the mean of a Beta posterior moves by 1 / (a + b + n).
from bayesdp.programs import Bool, Database, Private, Real, laplace, program

A = 2
B = 3


@program
def posterior_mean(obs: Database[Bool]) -> Private[Real]:
    mean = (A + sum(obs)) / (A + B + obs.size)
    return laplace(mean, epsilon=0.5, sensitivity=1 / (A + B + obs.size))
