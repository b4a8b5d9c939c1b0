# ACCEPT (1, 0.00001): two models with Gaussian noise: epsilons and deltas add up.
from bayesdp.programs import Beta, Database, Int, Normal, Private, Real, bernoulli, beta, clip, gaussian, noise_aware, normal, observe, program, record, statistics


@record
class Person:
    age: Int[0, 120]
    height: Real[50, 250]


@program(epsilon=1, delta=1e-5)
def f(people: Database[Person]) -> Private[tuple[Normal, Beta]]:
    model = observe((clip(p.height, 140, 200) for p in people), normal(sd=7.5), prior=normal(mean=170, sd=20))
    coin = observe((p.age >= 65 for p in people), bernoulli, prior=beta(1/2, 1/2))
    return noise_aware(gaussian(statistics(model), epsilon=1/2, delta=5e-6)), noise_aware(gaussian(statistics(coin), epsilon=1/2, delta=5e-6))
