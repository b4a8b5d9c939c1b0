"""The names that a program file may import, in one place. No imports: reading it costs nothing."""

from __future__ import annotations

TYPES = (
    *("Bool", "Int", "Real", "Category", "Public", "Database", "Private"),
    *("Beta", "Dirichlet", "Normal", "Gamma", "Samples", "Vector", "Matrix"),
)
DECORATORS = ("program", "helper", "record")
FUNCTIONS = ("sqrt", "log", "exp", "lgamma", "floor")
DATA = (
    *("count", "clip", "onehot", "cross", "field", "fold", "partition", "group_by"),
    "transition_counts",
)
MODEL = (
    *("observe", "infer", "statistics", "parameters"),
    *("bernoulli", "categorical", "normal", "poisson", "linear_model"),
    *("logistic", "poisson_regression", "geometric", "negative_binomial", "exponential_time"),
    *("mixture", "chances", "hypotheses", "markov_chain"),
    *("beta", "dirichlet", "gamma", "normal_inverse_gamma", "partial_pooling"),
)
RELEASES = (
    "laplace",
    "gaussian",
    "randomized_response",
    "exponential",
    "per_record_exponential",
    "posterior_sample",
    "above_threshold",
)
CANDIDATES = ("hellinger", "posteriors_of", "grid_of", "linspace")
AFTER = ("plug_in", "noise_aware", "nuts", "predictive", "require")
SURFACE = frozenset(TYPES + DECORATORS + DATA + FUNCTIONS + MODEL + RELEASES + CANDIDATES + AFTER)
"""Every name of the language."""

BUILTINS = frozenset(
    (
        *("sum", "abs", "min", "max", "round", "range", "tuple", "list", "zip", "enumerate", "len"),
        *("any", "all"),
    )
)
"""Python's own that programs may use, with the meaning that they have here."""
