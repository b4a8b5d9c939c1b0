"""Studies of the table of canaries, which ask every kind of query between them."""

from __future__ import annotations

PEOPLE = """\
[data]
source = "people.csv"
dataset = "people"
n = 24

[data.columns]
house = { role = "cluster" }
role = { public = true, states = ["child", "parent"] }
ill = { states = ["yes", "no"] }
born = { bounds = ["1890-01-01", "2000-12-31"] }
income = { bounds = [0, 100000000], unit = "EUR" }
rich = { from = "income", where = "income > 50000000" }

[population]
model = "clusters"
size = 4
covers = ["ill", "income", "born"]
source = "a survey of 1990"

[budget]
epsilon = 40.0
spend = 4.0

"""
QUERIES = (
    'kind = "mean"\ncolumn = "income"',
    'kind = "sum"\ncolumn = "income"\nby = "role"',
    'kind = "mean"\ncolumn = "born"',
    'kind = "count"\nwhere = "ill == \'yes\' and income > 30000000"',
    'kind = "proportion"\nwhere = "born > \'1950-01-01\'"',
    'kind = "histogram"\ncolumn = ["ill", "rich"]',
    'kind = "histogram"\ncolumn = "income"\nbins = [0, 25000000, 50000000, 100000000]',
    'kind = "variance"\ncolumn = "income"',
    'kind = "quantile"\nprobability = 0.9\ncolumn = "income"\nstep = 5000000',
    'kind = "median"\ncolumn = "income"\ncandidates = [10000000, 50000000]\nby = "role"',
    'kind = "regression"\noutcome = "income"\non = "rich"',
    'kind = "covariance"\ncolumn = ["income", "rich"]',
    'kind = "sum"\ncolumn = "income"\nweighted_by = "income"',
    'kind = "program"\nprogram = "wealth.py:ill_people"',
)
PROGRAM = """\
from bayesdp.programs import Beta, Category, Database, Private, bernoulli, beta, laplace
from bayesdp.programs import noise_aware, observe, program, record, statistics


@record
class Person:
    ill: Category["yes", "no"]


@program
def ill_people(people: Database[Person]) -> Private[Beta]:
    model = observe((p.ill == "yes" for p in people), bernoulli, prior=beta(1, 1))
    return noise_aware(laplace(statistics(model), epsilon=1 / 4))
"""
ANSWERS = '[[query]]\nname = "each"\nkind = "randomized_response"\ncolumn = "ill"\nepsilon = 0.5\n'
CHAIN = """\
[data]
source = "people.csv"
dataset = "line"
n = 24

[data.columns]
house = { role = "series" }
born = { role = "order", step = "1 day" }
ill = { states = ["yes", "no"] }
level = { from = "income", cuts = [30000000, 60000000] }
income = { bounds = [0, 100000000] }

[population]
model = "markov"
transition = [[0.9, 0.1], [0.3, 0.7]]
length = 5000
covers = ["ill"]
source = "the year before"

[budget]
epsilon = 40.0
spend = 2.0

[[query]]
name = "who was ill"
kind = "count"
where = "ill == 'yes'"
"""
HABITS = """\
[data]
source = "habits.csv"
dataset = "habits"
n = 2400

[data.columns]
note = { role = "series" }
day = { role = "order", step = 1 }
ill = { states = ["yes", "no"] }

[population]
model = "markov"
transition = [[0.6, 0.4], [0.3, 0.7]]
length = 100
covers = ["ill"]
source = "the year before"

[budget]
epsilon = 40.0
spend = 2.0

[[query]]
name = "who was ill"
kind = "count"
where = "ill == 'yes'"
"""


def people(*queries: str, head: str = PEOPLE) -> str:
    """A study of these queries, which are all of them unless they are given."""
    return head + "\n".join(
        f'[[query]]\nname = "q{i}"\n{query}\n' for i, query in enumerate(queries or QUERIES)
    )
