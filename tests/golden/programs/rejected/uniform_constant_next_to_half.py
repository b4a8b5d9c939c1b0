# REJECT sensitivity: beta(1, 1/2): the smaller parameter decides
from bayesdp.programs import Beta, Bool, Database, Private, bernoulli, beta, exponential, hellinger, infer, observe, posteriors_of, program


@program
def f(obs: Database[Bool]) -> Private[Beta]:
    prior = beta(1, 0.5)
    posterior = infer(observe(obs, bernoulli, prior=prior))
    return exponential(
        score=hellinger(posterior), candidates=posteriors_of(prior, n=obs.size), epsilon=1, sensitivity=0.5
    )
