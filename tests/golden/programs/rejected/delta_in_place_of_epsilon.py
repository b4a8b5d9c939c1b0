# REJECT budget: half the epsilon is declared, and a delta below H sqrt(2 - H^2) in place of the rest
from bayesdp.programs import Beta, Bool, Database, Private, bernoulli, beta, exponential, hellinger, infer, observe, posteriors_of, program


@program(epsilon=0.5, delta=0.01)
def f(obs: Database[Bool]) -> Private[Beta]:
    prior = beta(1, 1)
    posterior = infer(observe(obs, bernoulli, prior=prior))
    return exponential(score=hellinger(posterior), candidates=posteriors_of(prior, n=obs.size), epsilon=1)
