# ACCEPT (0.5, 0): sum and sum of squares at once; squares of [-1, 1] lie in [0, 1].
from bayesdp.programs import Database, Private, Real, clip, laplace, program


@program
def moments(values: Database[Real[-100, 100]]) -> Private[tuple[Real, Real]]:
    scaled = (clip(v / 50, -1, 1) for v in values)
    first, second = laplace((sum(x for x in scaled), sum(x**2 for x in scaled)), epsilon=0.5, sensitivity=3)
    mean = first / values.size
    return mean, max(second / values.size - mean * mean, 0)
