# ACCEPT (2, 0): one draw from a tempered Gamma posterior on a grid: 2 * 5 / 5.
from bayesdp.programs import Database, Int, Private, Real, clip, gamma, linspace, observe, poisson, posterior_sample, program, record


@record
class Person:
    age: Int[0, 120]


@program(epsilon=2)
def f(people: Database[Person]) -> Private[Real]:
    model = observe((clip(p.age, 0, 20) for p in people), poisson(exposure=people.size), prior=gamma(2, rate=1))
    return posterior_sample(model, grid=linspace(0.1, 20, 200), log_likelihood=(-5, 0), power=1/5)
