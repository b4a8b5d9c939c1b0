"""From one year to the next: who starts to wheeze, who stops? A matrix from children by years."""

from bayesdp.programs import (
    Category,
    Database,
    Dirichlet,
    Private,
    categorical,
    cross,
    dirichlet,
    field,
    laplace,
    noise_aware,
    observe,
    program,
    record,
    statistics,
)


@record
class Child:
    wheeze_7: Category["no", "yes"]
    wheeze_8: Category["no", "yes"]
    wheeze_9: Category["no", "yes"]
    wheeze_10: Category["no", "yes"]


STEPS = (("wheeze_7", "wheeze_8"), ("wheeze_8", "wheeze_9"), ("wheeze_9", "wheeze_10"))


@program(epsilon=1)
def changes(children: Database[Child]) -> Private[Dirichlet]:
    """Three steps, a third of the budget each; what one taught is the next one's prior."""
    belief = dirichlet(1, 1, 1, 1)
    for before, after in STEPS:
        pairs = (cross(field(c, before), field(c, after)) for c in children)
        model = observe(pairs, categorical, prior=belief)
        belief = noise_aware(laplace(statistics(model), epsilon=1 / 3))
    return belief
