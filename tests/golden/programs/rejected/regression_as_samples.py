# REJECT type: a regression in closed form is a Normal
from bayesdp.programs import Database, Private, Real, Samples, laplace, linear_model, noise_aware, normal, observe, program, record, statistics


@record
class P:
    x: Real[-1, 1]
    y: Real[-1, 1]

@program
def f(db: Database[P]) -> Private[Samples]:
    model = observe(((1, p.x, p.y) for p in db), linear_model(noise_sd=0.5), prior=normal(0, sd=2))
    return noise_aware(laplace(statistics(model), epsilon=0.5))
