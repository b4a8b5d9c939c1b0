# REJECT type: noise_aware of a number that belongs to no model
from bayesdp.programs import Beta, Bool, Database, Private, laplace, noise_aware, program


@program
def f(obs: Database[Bool]) -> Private[Beta]:
    return noise_aware(laplace(sum(obs) / obs.size, epsilon=1))
