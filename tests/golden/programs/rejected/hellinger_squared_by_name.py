# REJECT sensitivity: the sum of two squared distances, in place of a distance
from bayesdp.programs import Beta, Bool, Database, Private, bernoulli, beta, exponential, hellinger, infer, observe, posteriors_of, program

DISTANCE = 0.4632513752
SQUARED = DISTANCE * DISTANCE


@program
def f(obs: Database[Bool]) -> Private[Beta]:
    prior = beta(1, 1)
    posterior = infer(observe(obs, bernoulli, prior=prior))
    return exponential(score=hellinger(posterior), candidates=posteriors_of(prior, n=obs.size), epsilon=1, sensitivity=SQUARED + SQUARED)
