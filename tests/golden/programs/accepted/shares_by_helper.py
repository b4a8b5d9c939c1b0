# ACCEPT (0.9, 0): a public total split in three; a helper that releases, clips and divides.
from bayesdp.programs import Bool, Database, Private, Public, Real, clip, count, helper, laplace, program, record


@record
class Person:
    ill: Bool
    smokes: Bool


@helper
def share(rows, n, epsilon):
    """Share of rows."""
    k = laplace(count(rows), epsilon=epsilon)
    k = clip(k, 0, n)
    return k / n


@program
def f(people: Database[Person], *, epsilon: Public[Real[0.01, 10]] = 0.9) -> Private[tuple[Real, Real, Real]]:
    each = epsilon / 3
    n = people.size
    a = share((p for p in people if p.ill), n, each)
    b = share((p for p in people if p.smokes), n, each)
    c = share((p for p in people if p.ill and p.smokes), n, epsilon=each)
    return a, b, c / max(b, 0.001)
