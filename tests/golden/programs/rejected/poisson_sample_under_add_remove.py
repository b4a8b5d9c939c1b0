# REJECT type: records share the exposure, and their number is private
from bayesdp.programs import Database, Int, Private, Real, gamma, linspace, observe, poisson, posterior_sample, program


@program(adjacency="add-remove")
def draw(db: Database[Int[0, 20]]) -> Private[Real]:
    model = observe(db, poisson(exposure=1), prior=gamma(2, rate=1))
    return posterior_sample(model, grid=linspace(0.5, 10, 20), log_likelihood=(-2, 0), power=0.25)
