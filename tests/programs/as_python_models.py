"""Program files read as Python: models, what is summed for them, and made-up posteriors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.programs.as_python_functions import cross, onehot, total
from tests.programs.as_python_values import Rows, Vec


@dataclass
class Model:
    rows: Rows
    likelihood: Any
    prior: Any
    whole: bool


def statistics(model: Model) -> Any:
    kind = model.likelihood[0]
    if model.prior[0] == "partial_pooling":
        by = model.prior[1][-1]
        cells = [onehot(getattr(row, by)) for row in model.rows.over]  # type: ignore[attr-defined]
        pairs = zip(cells, model.rows, strict=True)
        return total([Vec(entry * row for entry in cell) for cell, row in pairs])
    if model.likelihood == ("normal", ()):
        kind = "unknown"
    if kind == "chances":
        hot = [onehot(cross(*row) if isinstance(row, tuple) else row) for row in model.rows]
        return total(hot)
    if kind in SUMMED:
        return total([SUMMED[kind](row) for row in model.rows])
    if kind == "categorical":
        return total([onehot(row) for row in model.rows])
    if kind == "linear_model":
        return total(
            [
                Vec(row[i] * row[j] for i in range(len(row)) for j in range(i, len(row)))
                for row in model.rows
            ]
        )
    if kind == "poisson" or model.whole:
        return total(model.rows)
    if kind == "bernoulli":
        return total([Vec((int(row), 1 - int(row))) for row in model.rows])
    return total([Vec((1, row)) for row in model.rows])


def parameters(model: Model) -> Any:
    kind = model.likelihood[0]
    rows = model.rows
    hot = [onehot(row) if kind == "categorical" else Vec((int(row), 1 - row)) for row in rows]
    return Vec(model.prior[1]) + total(hot)


STANDARD = ("bernoulli", "beta", "categorical", "normal", "poisson", "gamma", "linear_model")
LATER = (
    *("logistic", "poisson_regression", "geometric", "negative_binomial", "exponential_time"),
    *("mixture", "normal_inverse_gamma", "partial_pooling", "chances", "hypotheses"),
    "markov_chain",
)
"""Likelihoods and priors of which the programs of the corpus have the bounds that follow."""


def _unit(x: Any, low: int, high: int) -> Fraction:
    """The number between -1 and 1 that lies where x lies between its bounds."""
    return (2 * Fraction(x) - low - high) / (high - low)


def _triangle(*row: Any) -> Vec:
    return Vec(row[i] * row[j] for i in range(len(row)) for j in range(i, len(row)))


SUMMED: dict[str, Any] = {
    "logistic": lambda row: _triangle(1, _unit(row[1], 18, 90), _unit(row[2], 0, 1)),
    "poisson_regression": lambda row: _triangle(1, _unit(row[1], 18, 90), _unit(row[2], 0, 12)),
    "unknown": lambda x: _triangle(1, _unit(x, 0, 60)),
    "exponential_time": lambda row: Vec((int(row[1]), Fraction(row[0]) / 60)),
    "mixture": lambda x: Vec(
        int(i == min(math.floor(Fraction(x) / 60 * 24), 23)) for i in range(24)
    ),
    "negative_binomial": lambda k: k,
}
"""What is summed of each row, by the likelihood, in the corpus' programs."""


class Released(tuple):
    """A released posterior, whose numbers are made up: `SUMMARIES` has them too."""

    mean, sd = Fraction(2, 5), Fraction(1, 10)

    def quantile(self, p: Any) -> Any:
        return Fraction(p) / 2

    def samples(self, draws: Any) -> Any:
        return self

    def probability(self, low: Any, high: Any) -> Any:
        return Fraction(high) / 4 - Fraction(low) / 4

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(key) if isinstance(key, int | slice) else Fraction(1, 4)


RELEASED = Released(("released",))
AFTER = ("plug_in", "noise_aware", "nuts", "predictive")
SUMMARIES: dict[str, Any] = {
    "mean": lambda *_: RELEASED.mean,
    "sd": lambda *_: RELEASED.sd,
    "quantile": lambda p, _: RELEASED.quantile(p),
    "probability": RELEASED.probability,
}


@dataclass
class Score:
    posterior: Model


def _dirichlet(*args: Any) -> Any:
    return ("dirichlet", args[0] if len(args) == 1 else args)


def models(public: frozenset[str]) -> dict[str, Any]:
    """Priors, likelihoods and what models observe; `public` columns are public."""

    def observe(rows: Any, likelihood: Any, prior: Any) -> Any:
        kind = likelihood if isinstance(likelihood, tuple) else likelihood()
        if not isinstance(rows, Rows):
            return ("noisy model",)
        return Model(rows, kind, prior, rows.read <= public)

    def prior(name: str) -> Any:
        return lambda *args, **named: Released((name, (*args, *named.values())))

    return {
        "observe": observe,
        "infer": lambda model: model,
        "statistics": statistics,
        "parameters": parameters,
        "dirichlet": _dirichlet,
        **{name: prior(name) for name in (*STANDARD, *LATER)},
        "hellinger": lambda model: Score(model),
        "posteriors_of": lambda *_, **__: [("released",)],
        **{name: lambda *_, **__: RELEASED for name in AFTER},
    }
