# REJECT prior: a regression's posterior has no distance
from bayesdp.programs import Database, Private, Real, Samples, exponential, hellinger, infer, linear_model, linspace, normal, observe, program, record


@record
class Row:
    x: Real[-1, 1]
    y: Real[-1, 1]


@program
def f(rows: Database[Row]) -> Private[Real]:
    posterior = infer(observe(((r.x, r.y) for r in rows), linear_model(noise_sd=0.2), prior=normal(0, sd=1)))
    return exponential(score=hellinger(posterior), candidates=linspace(-1, 1, 21), epsilon=1)
