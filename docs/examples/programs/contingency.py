"""Do children wheeze more often where the mother smokes? A table of four cells."""

from bayesdp.programs import (
    Category,
    Database,
    Dirichlet,
    Private,
    categorical,
    cross,
    dirichlet,
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


@program(epsilon=1)
def smoke_and_wheeze(children: Database[Child]) -> Private[Dirichlet]:
    """All cells at once: a replaced child leaves one and enters another, so the noise is for 2."""
    cells = (cross(c.mother_smoked, c.wheeze_7) for c in children)
    model = observe(cells, categorical, prior=dirichlet(1, 1, 1, 1))
    return noise_aware(laplace(statistics(model), epsilon=1))
