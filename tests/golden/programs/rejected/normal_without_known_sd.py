# REJECT arguments: a normal likelihood needs its standard deviation
from bayesdp.programs import Database, Normal, Private, Real, laplace, noise_aware, normal, observe, program, statistics


@program
def f(xs: Database[Real[0, 100]]) -> Private[Normal]:
    model = observe(xs, normal, prior=normal(50, sd=10))
    return noise_aware(laplace(statistics(model), epsilon=1))
