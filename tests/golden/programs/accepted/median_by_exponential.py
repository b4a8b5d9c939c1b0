# ACCEPT (1, 0): a median as a score: the count below a candidate moves by 1, so its distance to n / 2 does.
from bayesdp.programs import Database, Private, Real, count, exponential, linspace, program


@program(epsilon=1)
def median_income(incomes: Database[Real[0, 200000]]) -> Private[Real]:
    return exponential(
        score=lambda t: -abs(count(x for x in incomes if x <= t) - incomes.size / 2),
        candidates=linspace(0, 200000, 201),
        epsilon=1,
        sensitivity=1,
    )
