# ACCEPT (0.75, 0): public arguments have the values that they are checked with.
from bayesdp.programs import Bool, Category, Database, Int, Private, Public, Real, clip, count, laplace, program, record


@record
class Person:
    age: Int[0, 120]
    sex: Category["f", "m"]


@program
def counted(
    people: Database[Person],
    *,
    cutoff: Public[Int[0, 120]] = 65,
    share: Public[Real[0, 1]] = 0.25,
    only: Public[Category["f", "m"]] = "f",
    both: Public[Bool] = True,
) -> Private[tuple[Int, Real]]:
    older = laplace(count(p for p in people if p.age >= cutoff and (both or p.sex == only)), epsilon=0.5)
    total = laplace(sum(clip(p.age, 0, cutoff) for p in people if p.sex == only), epsilon=share)
    return older, total
