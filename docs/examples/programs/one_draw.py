"""One draw from a posterior, held so that no record counts for more than it may."""

from bayesdp.programs import (
    Category,
    Database,
    Private,
    Real,
    bernoulli,
    beta,
    linspace,
    observe,
    posterior_sample,
    program,
    record,
)


@record
class Child:
    wheeze_10: Category["no", "yes"]


@program(epsilon=1)
def one_draw(children: Database[Child]) -> Private[Real]:
    """The log-likelihood of a record lies in [-3, 0] and is scaled by 1/6: 2 * 3 / 6 = 1."""
    answers = (c.wheeze_10 == "yes" for c in children)
    model = observe(answers, bernoulli, prior=beta(1, 1))
    grid = linspace(0.05, 0.95, 91)
    return posterior_sample(model, grid=grid, log_likelihood=(-3, 0), power=1 / 6)
