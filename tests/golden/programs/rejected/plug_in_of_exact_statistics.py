# REJECT type: plug_in of statistics that were not released
from bayesdp.programs import Beta, Bool, Database, Private, bernoulli, beta, observe, plug_in, program, statistics


@program
def f(obs: Database[Bool]) -> Private[Beta]:
    return plug_in(statistics(observe(obs, bernoulli, prior=beta(1, 1))))
