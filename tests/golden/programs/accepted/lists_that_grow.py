# ACCEPT (0.9, 0): a list that grows by concatenation: 0.3 for each of three labels.
from bayesdp.programs import Category, Database, Private, Real, clip, count, laplace, program, record


@record
class Person:
    income: Real[0, 100000]
    sex: Category["f", "m", "missing"]


@program
def f(people: Database[Person]) -> Private[tuple[Real, ...]]:
    results = []
    for sex in ("f", "m", "missing"):
        n = laplace(count(p for p in people if p.sex == sex), epsilon=0.1)
        s = laplace(sum(clip(p.income, 0, 10000) for p in people if p.sex == sex), epsilon=0.2)
        results = results + [s / max(n, 1)]
    return results
