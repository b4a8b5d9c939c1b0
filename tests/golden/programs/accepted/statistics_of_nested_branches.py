# ACCEPT (1, 0): derived on three sides, each with its own model; 0.2 + 0.8
from bayesdp.programs import Beta, Bool, Database, Private, bernoulli, beta, count, laplace, noise_aware, observe, program, statistics


@program(epsilon=1)
def f(db: Database[Bool]) -> Private[tuple[Beta, Beta]]:
    k = laplace(count(db), epsilon=0.2)
    a = observe(db, bernoulli, prior=beta(1, 1))
    b = observe((not x for x in db), bernoulli, prior=beta(2, 1))
    if k > 10:
        if k > 20:
            noisy = laplace(statistics(a), epsilon=0.3)
        else:
            prior = beta(max(k, 1), 1)
            noisy = laplace(statistics(observe(db, bernoulli, prior=prior)), epsilon=0.8)
        k = k + 1
    else:
        noisy = laplace(statistics(b), epsilon=0.1)
    return noise_aware(noisy), noise_aware(noisy)
