# REJECT budget: two sums of one generator: each costs
from bayesdp.programs import Database, Private, Real, clip, laplace, program


@program(epsilon=0.5)
def f(heights: Database[Real[50, 250]]) -> Private[tuple[Real, Real]]:
    held = (clip(h, 140, 200) for h in heights)
    first = laplace(sum(held), epsilon=0.5)
    second = laplace(sum(held), epsilon=0.5)
    return first, second
