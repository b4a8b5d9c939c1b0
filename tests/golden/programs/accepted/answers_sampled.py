# ACCEPT (0.5, 0): samples of the posterior given noisy answers.
from bayesdp.programs import Bool, Database, Private, Samples, bernoulli, beta, nuts, observe, program, randomized_response, record


@record
class Person:
    smokes: Bool


@program
def f(people: Database[Person]) -> Private[Samples]:
    noisy = randomized_response((p.smokes for p in people), epsilon=0.5)
    return nuts(observe(noisy, bernoulli, prior=beta(1, 1)), draws=1000)
