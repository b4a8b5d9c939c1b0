# REJECT private-parameter: under add-remove a public column's sum is private
from bayesdp.programs import Database, Gamma, Int, Private, Public, Real, clip, gamma, laplace, noise_aware, observe, poisson, program, record, statistics


@record
class Policy:
    claims: Int[0, 10]
    years: Public[Real[0.1, 1]]


@program(adjacency="add-remove")
def f(book: Database[Policy]) -> Private[Gamma]:
    model = observe((p.claims for p in book), poisson(exposure=sum(p.years for p in book)), prior=gamma(1, rate=1))
    return noise_aware(laplace(statistics(model), epsilon=1))
