# REJECT private-parameter: a likelihood's standard deviation from the data
from bayesdp.programs import Database, Normal, Private, Real, laplace, noise_aware, normal, observe, program, statistics


@program
def f(xs: Database[Real[0, 100]]) -> Private[Normal]:
    spread = sum(x * x for x in xs) / xs.size
    model = observe(xs, normal(sd=spread), prior=normal(50, sd=10))
    return noise_aware(laplace(statistics(model), epsilon=1))
