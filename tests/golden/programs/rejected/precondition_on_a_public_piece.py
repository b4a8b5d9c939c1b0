# REJECT static: the size of a public piece is known with the table
from bayesdp.programs import Category, Database, Gamma, Int, Private, Public, clip, gamma, laplace, noise_aware, observe, partition, poisson, program, record, require, statistics


@record
class Visit:
    n: Int[0, 30]
    year: Public[Category["2019", "2020"]]


@program(epsilon=1)
def f(visits: Database[Visit]) -> Private[tuple[Gamma, Gamma]]:
    rates = ()
    for year, part in partition(visits, by="year"):
        require(part.size > 0)
        model = observe((clip(v.n, 0, 10) for v in part), poisson(exposure=part.size), prior=gamma(1, rate=1))
        rates += (noise_aware(laplace(statistics(model), epsilon=1)),)
    return rates
