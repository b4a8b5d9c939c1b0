# REJECT type: a branch on an unreleased posterior
from bayesdp.programs import Beta, Bool, Database, Int, Private, bernoulli, beta, infer, laplace, observe, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    posterior = infer(observe(obs, bernoulli, prior=beta(1, 1)))
    answer = 0
    if posterior:
        answer = laplace(sum(obs), epsilon=1)
    return answer
