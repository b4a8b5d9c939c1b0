# ACCEPT (1, 0): the upper triangle of the moments of three entries in [-1, 1]: l1 sensitivity 6.
from bayesdp.programs import Database, Private, Real, Samples, clip, laplace, linear_model, normal, nuts, observe, program, record, statistics


@record
class Family:
    mother: Real[50, 250]
    child: Real[50, 250]


@program(epsilon=1)
def galton(families: Database[Family]) -> Private[Samples]:
    rows = ((1, clip((f.mother - 165) / 30, -1, 1), clip((f.child - 170) / 40, -1, 1)) for f in families)
    model = observe(rows, linear_model(noise_sd=0.25), prior=normal(0, sd=1))
    noisy = laplace(statistics(model), epsilon=1, sensitivity=6)
    return nuts(noisy, draws=1000)
