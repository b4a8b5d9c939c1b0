"""Years with wheeze for each year that a child was observed: a Poisson rate."""

from bayesdp.programs import (
    Category,
    Database,
    Gamma,
    Private,
    gamma,
    helper,
    laplace,
    noise_aware,
    observe,
    poisson,
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


@helper
def one_if(test):
    return 1 if test else 0


@helper
def years(child):
    return (
        one_if(child.wheeze_7 == "yes")
        + one_if(child.wheeze_8 == "yes")
        + one_if(child.wheeze_9 == "yes")
        + one_if(child.wheeze_10 == "yes")
    )


@program(epsilon=0.5)
def wheeze_rate(children: Database[Child]) -> Private[Gamma]:
    """Each child was observed for four years and adds 0 to 4: that is how far the sum may move."""
    exposure = 4 * children.size
    model = observe(
        (years(c) for c in children), poisson(exposure=exposure), prior=gamma(1, rate=4)
    )
    return noise_aware(laplace(statistics(model), epsilon=0.5))
