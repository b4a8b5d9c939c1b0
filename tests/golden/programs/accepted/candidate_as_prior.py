# ACCEPT (1, 0): a posterior picked by its distance, used as the next prior.
from bayesdp.programs import Beta, Bool, Database, Private, bernoulli, beta, exponential, hellinger, infer, laplace, noise_aware, observe, posteriors_of, program, record, statistics


@record
class Person:
    ill: Bool
    smokes: Bool


@program
def f(people: Database[Person]) -> Private[Beta]:
    posterior = infer(observe((p.ill for p in people), bernoulli, prior=beta(1, 1)))
    first = exponential(score=hellinger(posterior), candidates=posteriors_of(beta(1, 1), n=people.size), epsilon=0.5)
    model = observe((p.smokes for p in people), bernoulli, prior=first)
    return noise_aware(laplace(statistics(model), epsilon=0.5))
