# REJECT sensitivity: moments of unscaled columns are not between -1 and 1
from bayesdp.programs import Database, Private, Real, Samples, laplace, linear_model, normal, nuts, observe, program, record, statistics


@record
class Row:
    x: Real[0, 100]
    y: Real[0, 100]


@program
def f(rows: Database[Row]) -> Private[Samples]:
    model = observe(((1, r.x, r.y) for r in rows), linear_model(noise_sd=0.2), prior=normal(0, sd=1))
    return nuts(laplace(statistics(model), epsilon=1, sensitivity=6), draws=100)
