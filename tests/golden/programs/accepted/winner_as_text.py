# ACCEPT (1, 0): a text by comparison of two released counts.
from bayesdp.programs import Category, Database, Private, count, laplace, program, record


@record
class Person:
    sex: Category["f", "m", "missing"]


@program
def f(people: Database[Person]) -> Private[Category]:
    f_n = laplace(count(p for p in people if p.sex == "f"), epsilon=0.5)
    m_n = laplace(count(p for p in people if p.sex == "m"), epsilon=0.5)
    if f_n > m_n:
        winner = "f"
    elif f_n == m_n:
        winner = "tie"
    else:
        winner = "m"
    return winner
