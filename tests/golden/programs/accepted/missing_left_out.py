# ACCEPT (0.5, 0): missing answers are filtered out: how many remain is private, so both counts are statistics.
from bayesdp.programs import Beta, Category, Database, Private, bernoulli, beta, laplace, noise_aware, observe, program, record, statistics


@record
class Person:
    sex: Category["f", "m", "missing"]


@program
def f(people: Database[Person]) -> Private[Beta]:
    """Missing answers are left out."""
    known = (p.sex == "f" for p in people if p.sex != "missing")
    model = observe(known, bernoulli, prior=beta(a=1, b=1))
    noisy = laplace(statistics(model), epsilon=0.5)
    return noise_aware(noisy)
