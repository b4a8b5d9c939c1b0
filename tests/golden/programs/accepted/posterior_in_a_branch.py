# ACCEPT (1, 0): a posterior on either side of a branch on a released count.
from bayesdp.programs import Beta, Bool, Database, Int, Private, bernoulli, beta, count, laplace, noise_aware, observe, program, record, statistics


@record
class Person:
    ill: Bool
    smokes: Bool


@program
def f(people: Database[Person]) -> Private[tuple[Beta, Int]]:
    count_ill = laplace(count(p for p in people if p.ill), epsilon=0.5)
    if count_ill >= 30:
        model = observe((p.smokes for p in people if p.ill), bernoulli, prior=beta(1, 1))
        answer = noise_aware(laplace(statistics(model), epsilon=0.5))
    else:
        model = observe((p.smokes for p in people), bernoulli, prior=beta(1, 1))
        answer = noise_aware(laplace(statistics(model), epsilon=0.5))
    return answer, count_ill
