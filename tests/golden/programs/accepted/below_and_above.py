# ACCEPT (1, 0): everybody is below or above, so the sum of the counts is public: an asserted 1 is more than enough.
from bayesdp.programs import Database, Private, Real, count, laplace, program


@program
def everybody(changes: Database[Real[-1, 1]]) -> Private[Real]:
    return laplace(count(x for x in changes if x <= 0) + count(x for x in changes if x > 0), epsilon=1, sensitivity=1)
