# ACCEPT (1, 0): two halves of a cohort in turn; what the first released is public, and so a prior.
from bayesdp.programs import Beta, Bool, Category, Database, Private, bernoulli, beta, laplace, noise_aware, observe, program, record, statistics


@record
class Patient:
    wave: Category["first", "second"]
    ill: Bool


@program
def in_two_waves(patients: Database[Patient]) -> Private[Beta]:
    first = observe((p.ill for p in patients if p.wave == "first"), bernoulli, prior=beta(1, 1))
    after_first = noise_aware(laplace(statistics(first), epsilon=0.5))
    second = observe((p.ill for p in patients if p.wave == "second"), bernoulli, prior=after_first)
    return noise_aware(laplace(statistics(second), epsilon=0.5))
