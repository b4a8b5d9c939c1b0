# REJECT private-parameter: a posterior sample's grid that ends at a private sum
from bayesdp.programs import Database, Int, Private, Real, clip, gamma, linspace, observe, poisson, posterior_sample, program


@program
def f(xs: Database[Int[0, 9]]) -> Private[Real]:
    model = observe(xs, poisson(exposure=xs.size), prior=gamma(1, rate=1))
    return posterior_sample(model, grid=linspace(0.1, 1 + sum(xs), 50), log_likelihood=(-1, 0))
