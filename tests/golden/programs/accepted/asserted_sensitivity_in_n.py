# ACCEPT (0.5, 0): 60 / n is what the mean moves by, for every n that is admitted; a solver proves the assertion.
from bayesdp.programs import Database, Private, Real, clip, laplace, program, require


@program
def mean(heights: Database[Real[50, 250]]) -> Private[Real]:
    require(heights.size >= 10)
    total = sum(clip(h, 140, 200) for h in heights)
    return laplace(total / heights.size, epsilon=0.5, sensitivity=60 / heights.size)
