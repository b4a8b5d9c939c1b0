# ACCEPT (0.3, 0): cost belongs to releases: a released value may be used and returned as often as one likes.
from bayesdp.programs import Bool, Database, Private, Real, clip, laplace, program


@program
def many_uses(obs: Database[Bool]) -> Private[tuple[Real, Real, Real]]:
    noisy = laplace(sum(obs), epsilon=0.3)
    share = clip(noisy / obs.size, 0, 1)
    return share, 1 - share, share * (1 - share)
