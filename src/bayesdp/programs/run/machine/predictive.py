"""Distributions of released numbers, draws of a released posterior, and new records by it.

The random numbers are NumPy's: what follows a release needs no secret ones.

**Laws and draws** (`law`, `draws`, `predictive`). They are derived values (8.1): a distribution
whose parameters are public, draws of a released distribution, and draws of a likelihood with public
parameters at such draws. *Proof.* The kernel admits in them public names, and models of nothing or
of released values whose parameters are public: no record is read. Their randomness is independent
of the data given what was released; by post-processing (2.4) they cost nothing. ∎
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from bayesdp.programs.ir import Expr
from bayesdp.programs.run.numerics.observed import Answers
from bayesdp.programs.run.posteriors.from_releases import prior_of
from bayesdp.programs.run.results import distributions as d
from bayesdp.programs.run.results.diagnostics import exact_samples
from bayesdp.programs.run.values.public import PublicValues

if TYPE_CHECKING:
    from bayesdp.arrays import Floats, Ints

LARGEST_RATE = 1e15
"""Larger expected counts are drawn as this one: NumPy has no Poisson law beyond."""


def from_law(expr: Expr, values: PublicValues) -> d.Distribution | Answers:
    """What a `law`, `draws` or `predictive` expression gives."""
    (part,) = expr.args
    if expr.op == "law":
        return prior_of(part.args[2], values)
    many = expr.data[0]
    assert isinstance(many, int | Fraction)
    if expr.op == "draws":
        posterior = prior_of(part, values)
        names = posterior.names if isinstance(posterior, d.Joint) else (posterior.family,)
        return exact_samples(posterior, int(many), names)
    likelihood, posterior = part.args[1], prior_of(part.args[2], values)
    about = [float(values.number(parameter)) for parameter in likelihood.args]
    family = str(likelihood.data[0])
    return predicted(family, about, posterior, int(many), np.random.default_rng())


def predicted(
    family: str,
    about: list[float],
    posterior: d.Distribution,
    many: int,
    rng: np.random.Generator,
) -> Answers:
    """New records: for each a draw of `posterior`, and then of the likelihood `family` at it.

    `about` are the likelihood's parameters, `many` how many records there are, `rng` the source of
    randomness. Truth values and labels come back as codes of labels.
    """
    thetas = posterior.samples(many, rng)
    if family in ("bernoulli", "categorical"):
        joint = isinstance(posterior, d.Joint)
        names = posterior.names if isinstance(posterior, d.Joint) else ("False", "True")
        chances = thetas if joint else np.stack([1 - thetas, thetas], axis=1)
        return Answers(_labels(chances, rng), names)
    if family == "normal":
        return Answers(rng.normal(thetas, about[0]))
    return Answers(rng.poisson(np.minimum(thetas * about[0], LARGEST_RATE)))


def _labels(chances: Floats, rng: np.random.Generator) -> Ints:
    """A place in each row, with the row's chances."""
    below = np.cumsum(chances, axis=1)
    below[:, -1] = np.inf
    return np.asarray(np.argmax(rng.random((len(chances), 1)) < below, axis=1), dtype=np.int64)
