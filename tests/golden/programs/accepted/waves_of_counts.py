# ACCEPT (0.5, 0): three public waves, each posterior the next prior
from bayesdp.programs import Category, Database, Gamma, Int, Private, Public, gamma, laplace, noise_aware, observe, partition, poisson, program, record, statistics


@record
class P:
    c: Int[0, 5]
    w: Public[Category["1", "2", "3"]]

@program
def f(db: Database[P]) -> Private[Gamma]:
    prior = gamma(1, rate=1)
    for part in partition(db, by="w"):
        m = observe((p.c for p in part), poisson(exposure=part.size), prior=prior)
        prior = noise_aware(laplace(statistics(m), epsilon=0.5))
    return prior
