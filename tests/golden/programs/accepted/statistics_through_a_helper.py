# ACCEPT (1, 0): the noisy statistics of a model keep their model through names, helpers and tuples.
from bayesdp.programs import Beta, Bool, Database, Private, bernoulli, beta, helper, laplace, noise_aware, observe, program, record, statistics


@record
class Child:
    wheeze: Bool
    cough: Bool


@helper
def noisy(values, share):
    """A private posterior, and the noisy statistic behind it."""
    counted = statistics(observe(values, bernoulli, prior=beta(1, 1)))
    released = laplace(counted, epsilon=share)
    return noise_aware(released), released


@program(epsilon=1)
def symptoms(children: Database[Child]) -> Private[tuple[Beta, Beta]]:
    wheeze, _ = noisy((c.wheeze for c in children), 0.5)
    cough, shown = noisy((c.cough for c in children), 0.5)
    return wheeze, noise_aware(shown)
