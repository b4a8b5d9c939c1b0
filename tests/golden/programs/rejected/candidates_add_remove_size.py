# REJECT private-parameter: as many candidates as records, under add-remove
from bayesdp.programs import Beta, Bool, Database, Private, bernoulli, beta, exponential, hellinger, infer, observe, posteriors_of, program


@program(adjacency="add-remove")
def f(obs: Database[Bool]) -> Private[Beta]:
    prior = beta(1, 1)
    posterior = infer(observe(obs, bernoulli, prior=prior))
    return exponential(score=hellinger(posterior), candidates=posteriors_of(prior, n=obs.size), epsilon=1)
