# ACCEPT (1, 0): with at least 100 records the sharper constant sqrt(1 - r(1) r(100)) = 0.33894 is enough.
from bayesdp.programs import Beta, Bool, Database, Private, bernoulli, beta, exponential, hellinger, infer, observe, posteriors_of, program, require


@program(epsilon=1)
def coin(obs: Database[Bool]) -> Private[Beta]:
    require(obs.size >= 100)
    prior = beta(1, 1)
    posterior = infer(observe(obs, bernoulli, prior=prior))
    return exponential(
        score=hellinger(posterior), candidates=posteriors_of(prior, n=obs.size), epsilon=1, sensitivity=0.3389403735
    )
