# ACCEPT (0.5, 0): a fold that counts: one record moves it by 1.
from bayesdp.programs import Bool, Database, Private, Real, fold, helper, laplace, program, record


@record
class Person:
    ill: Bool


@helper
def step(streak, p):
    """Count."""
    return streak + 1 if p.ill else streak


@program
def f(people: Database[Person]) -> Private[Real]:
    return laplace(fold(people, 0, step), epsilon=0.5)
