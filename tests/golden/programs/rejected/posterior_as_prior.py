# REJECT private-parameter: an unreleased posterior as a later prior
from bayesdp.programs import Beta, Bool, Database, Private, bernoulli, beta, exponential, hellinger, infer, observe, posteriors_of, program


@program
def f(obs: Database[Bool]) -> Private[Beta]:
    first = infer(observe(obs, bernoulli, prior=beta(1, 1)))
    second = infer(observe(obs, bernoulli, prior=first))
    return exponential(score=hellinger(second), candidates=posteriors_of(beta(1, 1), n=obs.size), epsilon=1)
