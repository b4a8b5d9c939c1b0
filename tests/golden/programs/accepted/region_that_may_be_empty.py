# ACCEPT (0.5, 0): a public region may have nobody, and no exposure
from bayesdp.programs import Category, Database, Gamma, Int, Private, Public, Real, clip, gamma, laplace, noise_aware, observe, poisson, program, record, statistics


@record
class Policy:
    claims: Int[0, 40]
    years: Public[Real[0.1, 1]]
    region: Public[Category["n", "s"]]

@program
def north(book: Database[Policy]) -> Private[Gamma]:
    exposure = sum(p.years for p in book if p.region == "n")
    model = observe((clip(p.claims, 0, 4) for p in book if p.region == "n"), poisson(exposure=exposure), prior=gamma(2, rate=4))
    return noise_aware(laplace(statistics(model), epsilon=0.5))
