# REJECT type: candidates are numbers
from bayesdp.programs import Category, Database, Private, count, exponential, program


@program(epsilon=1)
def top(db: Database[Category["a", "b", "c"]]) -> Private[Category["a", "b", "c"]]:
    return exponential(score=lambda t: count(x for x in db if x == t), candidates=("a", "b", "c"), epsilon=1)
