# ACCEPT (0.6, 0): exposure from a public column in each public region.
from bayesdp.programs import Category, Database, Gamma, Int, Private, Public, Real, clip, gamma, laplace, noise_aware, observe, partition, poisson, program, record, statistics


@record
class Policy:
    claims: Int[0, 50]
    years: Public[Real[0.1, 1.0]]
    region: Public[Category["north", "south"]]


@program
def rates(book: Database[Policy]) -> Private[tuple[Gamma, Gamma]]:
    rates = ()
    for _, policies in partition(book, by="region"):
        exposure = sum(p.years for p in policies)
        model = observe((clip(p.claims, 0, 5) for p in policies), poisson(exposure=max(exposure, 0.1)), prior=gamma(2, rate=1))
        rates = rates + (noise_aware(laplace(statistics(model), epsilon=0.6)),)
    return rates
