# ACCEPT (0.9, 0): three posteriors in a loop over column names.
from bayesdp.programs import Beta, Bool, Database, Private, Public, bernoulli, beta, field, laplace, noise_aware, observe, program, record, statistics


@record
class Person:
    ill: Bool
    smokes: Bool
    cohort: Public[Bool]

NAMES = ("ill", "smokes", "cohort")


@program
def f(people: Database[Person]) -> Private[tuple[Beta, ...]]:
    posteriors = ()
    for name in NAMES:
        model = observe((field(p, name) for p in people), bernoulli, prior=beta(1, 1))
        posteriors = posteriors + (noise_aware(laplace(statistics(model), epsilon=0.3)),)
    return posteriors
