# ACCEPT (1, 0): who changes the piece leaves one sample and enters another, 1/2 each; who stays costs 2 * 1/6 * 3.
from bayesdp.programs import Bool, Category, Database, Private, Real, bernoulli, beta, linspace, observe, partition, posterior_sample, program, record


@record
class Child:
    wheeze: Bool
    dust: Category["low", "high"]


@program
def draws(children: Database[Child]) -> Private[tuple[Real, Real]]:
    grid = linspace(0.01, 0.99, 99)
    low, high = [
        posterior_sample(observe((c.wheeze for c in piece), bernoulli, prior=beta(1, 1)), grid=grid, log_likelihood=(-4, -1), power=1 / 6)
        for piece in partition(children, by="dust")
    ]
    return low, high
