# REJECT sensitivity: the mean of unclipped values at the price of clipped ones
from bayesdp.programs import Database, Private, Real, laplace, program


@program
def f(heights: Database[Real[50, 250]]) -> Private[Real]:
    return laplace(sum(heights) / heights.size, epsilon=1, sensitivity=60 / heights.size)
