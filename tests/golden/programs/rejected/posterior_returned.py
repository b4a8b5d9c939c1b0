# REJECT private-output: an exact posterior is private
from bayesdp.programs import Beta, Bool, Database, Private, bernoulli, beta, infer, observe, program


@program
def f(obs: Database[Bool]) -> Private[Beta]:
    return infer(observe(obs, bernoulli, prior=beta(1, 1)))
