# ACCEPT (1, 0): divisions by released counts, each where a comparison keeps the divisor from 0.
from bayesdp.programs import Bool, Database, Private, Real, count, laplace, program, record


@record
class Person:
    ill: Bool
    old: Bool


@program(epsilon=1)
def f(people: Database[Person]) -> Private[tuple[Real, Real, Real]]:
    ill = laplace(count(p for p in people if p.ill), epsilon=0.5)
    both = laplace(count(p for p in people if p.ill and p.old), epsilon=0.5)
    if ill > 1:
        among = both / (ill - 1)
    else:
        among = 0
    turned = 0 if ill <= 0 else both / ill
    return among, turned, ill / max(both, 1)
