# ACCEPT (0.6, 0): 0.1 for the count and 0.5 for the dearer side, whichever is taken.
from bayesdp.programs import Bool, Database, Int, Private, Real, clip, count, laplace, program, record


@record
class Person:
    ill: Bool
    cost: Real[0, 1000]


@program(epsilon=0.6)
def mean_cost_if_enough(people: Database[Person]) -> Private[tuple[Int, Real]]:
    ill = laplace(count(p for p in people if p.ill), epsilon=0.1)
    if ill > 50:
        answer = laplace(sum(clip(p.cost, 0, 500) for p in people if p.ill), epsilon=0.5)
        answer = answer / ill
    else:
        answer = laplace(sum(clip(p.cost, 0, 200) for p in people), epsilon=0.2)
    return ill, answer
