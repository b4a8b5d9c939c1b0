# REJECT private-output: samples of an exact posterior carry no pure-DP claim
from bayesdp.programs import Database, Private, Real, Samples, linear_model, normal, nuts, observe, program, record


@record
class Row:
    x: Real[-1, 1]
    y: Real[-1, 1]


@program
def f(rows: Database[Row]) -> Private[Samples]:
    model = observe(((1, r.x, r.y) for r in rows), linear_model(noise_sd=0.1), prior=normal(0, sd=1))
    return nuts(model, draws=100)
