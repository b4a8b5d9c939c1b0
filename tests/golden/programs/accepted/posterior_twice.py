# ACCEPT (1, 0): a released posterior is returned and used as the next prior.
from bayesdp.programs import Beta, Bool, Database, Private, bernoulli, beta, laplace, noise_aware, observe, program, record, statistics


@record
class Person:
    ill: Bool
    smokes: Bool


@program
def f(people: Database[Person]) -> Private[tuple[Beta, Beta]]:
    first = noise_aware(laplace(statistics(observe((p.ill for p in people), bernoulli, prior=beta(1, 1))), epsilon=0.5))
    second = noise_aware(laplace(statistics(observe((p.smokes for p in people), bernoulli, prior=first)), epsilon=0.5))
    return first, second
