# ACCEPT (1, 0): both counts of each piece of a private partition move by 2 within, and by 1 where a record changes piece.
from bayesdp.programs import Beta, Bool, Category, Database, Int, Private, Public, Real, bernoulli, beta, laplace, noise_aware, observe, partition, program, record, statistics


@record
class Person:
    age: Int[0, 120]
    height: Real[50, 250]
    sex: Category["f", "m"]
    ill: Bool
    region: Public[Category["north", "south"]]


@program(epsilon=1)
def f(people: Database[Person]) -> Private[tuple[Beta, ...]]:
    found = ()
    for sex, group in partition(people, by="sex"):
        model = observe((p.ill for p in group), bernoulli, prior=beta(1, 1))
        found = found + (noise_aware(laplace(statistics(model), epsilon=1)),)
    return found
