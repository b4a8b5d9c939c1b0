"""How often do children wheeze at ten? The same question asked in three ways, each at epsilon 1.

Each answer is yes or no, so this is the bias of a coin: a Beta prior, a Bernoulli likelihood.
"""

from bayesdp.programs import (
    Beta,
    Category,
    Database,
    Private,
    bernoulli,
    beta,
    exponential,
    hellinger,
    infer,
    laplace,
    noise_aware,
    observe,
    posteriors_of,
    program,
    randomized_response,
    record,
    statistics,
)


@record
class Child:
    wheeze_10: Category["no", "yes"]


@program(epsilon=1)
def by_candidates(children: Database[Child]) -> Private[Beta]:
    """One of the n + 1 possible posteriors: the nearer to the true one, the likelier."""
    prior = beta(1, 1)
    answers = (c.wheeze_10 == "yes" for c in children)
    posterior = infer(observe(answers, bernoulli, prior=prior))
    candidates = posteriors_of(prior, n=children.size)
    return exponential(score=hellinger(posterior), candidates=candidates, epsilon=1)


@program(epsilon=1)
def by_answers(children: Database[Child]) -> Private[Beta]:
    """Every answer is turned round now and then before anybody sees it."""
    noisy = randomized_response((c.wheeze_10 == "yes" for c in children), epsilon=1)
    return noise_aware(observe(noisy, bernoulli, prior=beta(1, 1)))


@program(epsilon=1)
def by_count(children: Database[Child]) -> Private[Beta]:
    """The number of yeses with noise, which is all that the posterior needs."""
    answers = (c.wheeze_10 == "yes" for c in children)
    model = observe(answers, bernoulli, prior=beta(1, 1))
    return noise_aware(laplace(statistics(model), epsilon=1))
