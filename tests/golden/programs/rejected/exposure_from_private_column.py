# REJECT private-parameter: exposure from a private column
from bayesdp.programs import Database, Gamma, Int, Private, Real, clip, gamma, laplace, noise_aware, observe, poisson, program, record, statistics


@record
class Policy:
    claims: Int[0, 10]
    years: Real[0.1, 1]


@program
def f(book: Database[Policy]) -> Private[Gamma]:
    exposure = sum(p.years for p in book)
    model = observe((p.claims for p in book), poisson(exposure=exposure), prior=gamma(1, rate=1))
    return noise_aware(laplace(statistics(model), epsilon=1))
