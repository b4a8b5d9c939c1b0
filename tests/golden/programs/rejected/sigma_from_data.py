# REJECT private-parameter: the noise's standard deviation from the data
from bayesdp.programs import Database, Private, Real, gaussian, program


@program
def f(xs: Database[Real[0, 1]]) -> Private[Real]:
    return gaussian(sum(xs), epsilon=1, delta=1e-6, sigma=sum(xs))
