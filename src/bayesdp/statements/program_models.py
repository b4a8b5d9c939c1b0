"""The models of programs: each likelihood with its prior, and where their parameters may lie.

Nothing of this is about privacy: a model of released numbers is free. It keeps a program from
stopping at a law that doesn't exist after it has paid.
"""

from __future__ import annotations

from dataclasses import dataclass

ABOVE, AT_LEAST, ANYWHERE = "above 0", "at least 0", "anywhere"


@dataclass(frozen=True)
class ParameterPlaces:
    """Where parameters lie: those that come first, and any number of others behind them."""

    first: tuple[str, ...] = ()
    others: str = ""
    least: int = 0
    """The least number of others."""

    def of(self, many: int) -> tuple[str, ...] | None:
        """Where each of `many` parameters lies; None where a law doesn't have so many."""
        more = many - len(self.first)
        if more < self.least or (more and not self.others):
            return None
        return self.first + (self.others,) * more


LIKELIHOODS: dict[str, tuple[str, ParameterPlaces]] = {
    "bernoulli": ("beta", ParameterPlaces()),
    "categorical": ("dirichlet", ParameterPlaces()),
    "normal": ("normal", ParameterPlaces((ABOVE,))),
    "poisson": ("gamma", ParameterPlaces((AT_LEAST,))),  # without any exposure it is the prior
    "linear_model": ("normal", ParameterPlaces((ABOVE,))),
    # The largest count; of each feature its least and largest value, and how many it has (or 0).
    "logistic": ("normal", ParameterPlaces((ABOVE,), ANYWHERE, 3)),
    "poisson_regression": ("normal", ParameterPlaces((ABOVE,), ANYWHERE, 3)),
    "negative_binomial": ("beta", ParameterPlaces((ABOVE,))),
    "exponential_time": ("gamma", ParameterPlaces((ABOVE,))),  # the longest time
    # The middle and the reach of the records' bounds.
    "normal_unknown": ("normal_inverse_gamma", ParameterPlaces((ANYWHERE, ABOVE))),
    "categorical_exposed": ("dirichlet", ParameterPlaces((), ABOVE, 2)),
    # The least value and the width of a bin; the standard deviation of each part.
    "mixture": ("normal", ParameterPlaces((ANYWHERE, ABOVE), ABOVE, 2)),
    # The noise of the response, and 1 for a line with an intercept.
    "answered_line": ("normal", ParameterPlaces((ABOVE, AT_LEAST))),
    # How many hypotheses there are, where each lies, and its chances of all values in turn.
    "chances": ("hypotheses", ParameterPlaces((ABOVE,), ANYWHERE, 4)),
    "markov_chain": ("dirichlet", ParameterPlaces()),  # of every row of its transitions
    # How many records each group has, after the exposure of all or the records' spread.
    "pooled_bernoulli": ("partial_pooling", ParameterPlaces((), AT_LEAST, 2)),
    "pooled_poisson": ("partial_pooling", ParameterPlaces((AT_LEAST,), AT_LEAST, 2)),
    "pooled_normal": ("partial_pooling", ParameterPlaces((ABOVE,), AT_LEAST, 2)),
}
"""The prior of each likelihood, and its own parameters."""

PRIORS: dict[str, ParameterPlaces] = {
    "beta": ParameterPlaces((ABOVE, ABOVE)),
    "gamma": ParameterPlaces((ABOVE, ABOVE)),
    "normal": ParameterPlaces((ANYWHERE, ABOVE)),
    "dirichlet": ParameterPlaces((), ABOVE, 2),
    "normal_inverse_gamma": ParameterPlaces((ANYWHERE, ABOVE, ABOVE, ABOVE)),
    "partial_pooling": ParameterPlaces((ANYWHERE, ABOVE, ABOVE)),
    "hypotheses": ParameterPlaces((), ABOVE, 2),  # a weight for each
}
"""The parameters of each prior."""
