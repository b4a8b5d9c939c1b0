"""Naive Bayes: does a child wheeze at ten, given its mother's smoking and the years before?

For each feature the counts of (feature, class); the class's own counts are in them.
"""

from bayesdp.programs import (
    Category,
    Database,
    Dirichlet,
    Private,
    categorical,
    cross,
    dirichlet,
    helper,
    laplace,
    noise_aware,
    observe,
    program,
    record,
    statistics,
)


@record
class Child:
    mother_smoked: Category["no", "yes"]
    wheeze_7: Category["no", "yes"]
    wheeze_8: Category["no", "yes"]
    wheeze_9: Category["no", "yes"]
    wheeze_10: Category["no", "yes"]


@helper
def cells(pairs):
    model = observe(pairs, categorical, prior=dirichlet(1, 1, 1, 1))
    return noise_aware(laplace(statistics(model), epsilon=1 / 4))


@program(epsilon=1)
def wheeze_at_ten(
    children: Database[Child],
) -> Private[tuple[Dirichlet, Dirichlet, Dirichlet, Dirichlet]]:
    """Four tables, a quarter of the budget each, exactly: 1/4 + 1/4 + 1/4 + 1/4 = 1."""
    smoked = cells(cross(c.mother_smoked, c.wheeze_10) for c in children)
    seven = cells(cross(c.wheeze_7, c.wheeze_10) for c in children)
    eight = cells(cross(c.wheeze_8, c.wheeze_10) for c in children)
    nine = cells(cross(c.wheeze_9, c.wheeze_10) for c in children)
    return smoked, seven, eight, nine
