# REJECT sensitivity: the moments of a regression at the price of one product
from bayesdp.programs import Database, Private, Real, Samples, clip, laplace, linear_model, normal, nuts, observe, program, record, statistics


@record
class Row:
    x: Real[-1, 1]
    y: Real[-1, 1]


@program
def f(rows: Database[Row]) -> Private[Samples]:
    model = observe(((1, r.x, r.y) for r in rows), linear_model(noise_sd=0.2), prior=normal(0, sd=1))
    return nuts(laplace(statistics(model), epsilon=1, sensitivity=2), draws=100)
