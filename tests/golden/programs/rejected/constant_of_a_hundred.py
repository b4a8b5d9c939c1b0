# REJECT sensitivity: the constant of n = 100 without saying that there are as many
from bayesdp.programs import Beta, Bool, Database, Private, bernoulli, beta, exponential, hellinger, infer, observe, posteriors_of, program, require


@program
def f(obs: Database[Bool]) -> Private[Beta]:
    require(obs.size >= 10)
    prior = beta(1, 1)
    posterior = infer(observe(obs, bernoulli, prior=prior))
    return exponential(
        score=hellinger(posterior),
        candidates=posteriors_of(prior, n=obs.size),
        epsilon=1,
        sensitivity=0.33894038,
    )
