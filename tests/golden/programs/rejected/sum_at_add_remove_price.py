# REJECT sensitivity: under add-remove a sum in [100, 150] moves by 150, not by 50
from bayesdp.programs import Database, Private, Real, clip, laplace, program


@program(adjacency="add-remove")
def f(heights: Database[Real[50, 250]]) -> Private[Real]:
    return laplace(sum(clip(h, 100, 150) for h in heights), epsilon=1, sensitivity=50)
