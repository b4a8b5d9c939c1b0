# ACCEPT (0.5, 0): a table for each public year: naive Bayes' class counts.
from bayesdp.programs import Category, Database, Dirichlet, Private, Public, categorical, dirichlet, laplace, noise_aware, observe, partition, program, record, statistics

Status = Category["well", "ill", "missing"]


@record
class Visit:
    year: Public[Category["7", "8", "9"]]
    status: Status


@program(epsilon=0.5)
def by_year(visits: Database[Visit]) -> Private[tuple[Dirichlet, ...]]:
    found = ()
    for year, rows in partition(visits, by="year"):
        model = observe((v.status for v in rows), categorical, prior=dirichlet(1, 1, 1))
        found = found + (noise_aware(laplace(statistics(model), epsilon=0.5)),)
    return found
