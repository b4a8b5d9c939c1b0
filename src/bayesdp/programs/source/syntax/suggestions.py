"""What to write instead of names that one would expect to work."""

from __future__ import annotations

WAYS_OUT = frozenset(
    (
        *("print", "repr", "str", "format", "ascii", "bytes", "bytearray", "open", "input"),
        *("exec", "eval", "compile", "breakpoint", "getattr", "setattr", "delattr", "hasattr"),
        *("vars", "dir", "globals", "locals", "id", "hash", "type", "isinstance", "issubclass"),
        *("callable", "object", "super", "iter", "next", "memoryview", "help", "exit", "quit"),
    )
)
"""Python's own that show a value, or reach into Python's workings."""

LIKELIHOODS = (
    "Likelihoods are bernoulli, categorical, normal(sd=), poisson(exposure=), "
    "linear_model(noise_sd=), logistic, poisson_regression, geometric, negative_binomial(r=), "
    "exponential_time, mixture(normal(sd=), ...), chances(table) and markov_chain (of noisy "
    "transitions)."
)
PRIORS = (
    "Priors are beta(a, b), dirichlet(a, ...), normal(mean, sd=), gamma(shape, rate=), "
    "normal_inverse_gamma(mean, strength, shape, scale), partial_pooling(normal(...), spread=, "
    "by=) and hypotheses(...)."
)
ONE_RECORD = (
    "One record is what is protected. A person's rows are one record by "
    'group_by(visits, by="person", most=5); other groups of records are filters, or partition(...).'
)
INSTEAD = {
    "groupby": ONE_RECORD,
    "group": ONE_RECORD,
    "sorted": "For a quantile: exponential(score=lambda t: ..., candidates=linspace(...), ...).",
    "reversed": "Sums and counts don't depend on the order of records.",
    "set": "Declare the values: Category[...], and count each with onehot.",
    "frozenset": "Declare the values: Category[...], and count each with onehot.",
    "dict": 'Write it out: {"north": 1.2, "south": 0.9}.',
    **dict.fromkeys(
        ("transitions", "lag", "shift", "previous", "pairwise", "diff"),
        "How often which state follows which: transition_counts(people.state, order=...), where "
        "order= names a public column of whole numbers.",
    ),
    "any": "Whether any record has a property can be seen from a noisy count(...).",
    "all": "Whether all records have a property can be seen from a noisy count(...).",
    "map": "Write a generator: (f(row) for row in people).",
    "filter": "Write a generator: (row for row in people if ...).",
    "int": "A truth value counts as 0 or 1 as it is.",
    "float": "Numbers are numbers as they are.",
    "bool": "Write the comparison: x != 0.",
    "complex": "Numbers are real.",
    "pow": "Write x * x, or x ** 2.",
    "divmod": "On data the operations are + - * / and squares.",
    "mean": "sum(...) / people.size is a mean where the size is public; else release the sum and "
    "the count, and divide. Of a person's rows it is sum(...) / len(p).",
    "median": "exponential(score=lambda t: ..., candidates=linspace(...), epsilon=...).",
    "quantile": "exponential(score=lambda t: ..., candidates=linspace(...), epsilon=...).",
    "math": "Import sqrt, log, exp, floor and lgamma from bayesdp.programs.",
    "np": "Sums, counts and folds are written out.",
    "numpy": "Sums, counts and folds are written out.",
    "random": "Releases draw their own noise.",
    "sparse_vector": "above_threshold(queries, threshold=100, epsilon=1) is the first query above.",
    "binomial": "Truth values of single records are bernoulli. " + LIKELIHOODS,
    "multinomial": "Labels of single records are categorical. " + LIKELIHOODS,
    "weibull": LIKELIHOODS,
    "lognormal": "Observe the logarithms, as normal(sd=...). " + LIKELIHOODS,
    "student_t": LIKELIHOODS,
    "uniform": "beta(1, 1) is the uniform prior of a chance. " + PRIORS,
    "half_normal": PRIORS,
    "cauchy": PRIORS,
    "inverse_gamma": "Of a variance, with the mean: normal_inverse_gamma(mean, strength, shape, "
    "scale). " + PRIORS,
}
"""Names that one would expect to work, and what to write instead."""
