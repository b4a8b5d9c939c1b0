"""Distributions as results: mean, sd, quantiles, intervals, samples, density.

`Mixture` is a Beta, Gamma or Normal law or a mixture of such laws, `Density` a density known on a
fine grid, `Joint` a vector with known marginals, `Samples` a table of draws. All are released:
nothing here is private. Numbers of a `Joint` and of `Samples` with several columns come as tuples.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesdp.accounting.costs.rounded import value_words
from bayesdp.errors import InputError, inner_probability
from bayesdp.notebook import Figure
from bayesdp.programs.run.results.density_figures import DensityPanel, curve, histogram, svg
from bayesdp.programs.run.results.divergences import DivergenceKind, of_densities

if TYPE_CHECKING:
    from bayesdp.arrays import Floats

MeanOrMeans = float | tuple[float, ...]
CredibleInterval = tuple[float, float]
_SHOWN = 6


class Distribution(ABC):
    """A released distribution of one number or of a vector."""

    family: str
    notes: tuple[str, ...]

    @property
    @abstractmethod
    def mean(self) -> MeanOrMeans:
        """The mean; for a vector a tuple with the mean of each entry."""

    @property
    @abstractmethod
    def sd(self) -> MeanOrMeans:
        """The standard deviation."""

    @abstractmethod
    def quantile(self, p: float) -> MeanOrMeans:
        """The value exceeded with probability 1 - p. Raises `InputError` unless 0 < p < 1."""

    @abstractmethod
    def samples(self, k: int, rng: np.random.Generator | None = None) -> Floats:
        """`k` independent draws; for a vector a table with a row for each draw."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """The distribution as plain data for JSON."""

    def interval(self, p: float = 0.95) -> CredibleInterval | tuple[CredibleInterval, ...]:
        """The central interval that holds the value with probability p.

        Raises `InputError` unless p is strictly between 0 and 1.
        """
        inner_probability("p", p)
        low, high = self.quantile((1 - p) / 2), self.quantile((1 + p) / 2)
        if isinstance(low, tuple):
            assert isinstance(high, tuple)
            return tuple(zip(low, high, strict=True))
        assert isinstance(high, float)
        return (low, high)

    @abstractmethod
    def panels(self) -> list[DensityPanel]:
        """The densities that `figure` draws: one, or one for each entry of a vector."""

    def figure(self, title: str = "") -> Figure:
        """The density as an SVG element, which notebooks show; of a vector that of each entry."""
        return Figure(svg(self.panels(), title or f"{self.family} distribution"))

    def _summary(self) -> dict[str, Any]:
        interval = self.interval(0.95)
        interval_ends = [list(entry) if isinstance(entry, tuple) else entry for entry in interval]
        return {
            "family": self.family,
            "mean": _plain(self.mean),
            "sd": _plain(self.sd),
            "interval95": interval_ends,
            **({"notes": list(self.notes)} if self.notes else {}),
        }


class Univariate(Distribution):
    """A distribution of one number."""

    @property
    @abstractmethod
    def mean(self) -> float:
        """The mean."""

    @property
    @abstractmethod
    def sd(self) -> float:
        """The standard deviation."""

    @abstractmethod
    def quantile(self, p: float) -> float:
        """The value exceeded with probability 1 - p. Raises `InputError` unless 0 < p < 1."""

    @abstractmethod
    def density(self, x: Any) -> Any:
        """The density at x (a number or an array)."""

    @abstractmethod
    def cdf(self, x: Any) -> Any:
        """The probability of at most x (a number or an array)."""

    def divergence(self, other: Univariate, kind: DivergenceKind, epsilon: float = 0.0) -> float:
        """The divergence of this distribution from another, to look at only (see `divergences`)."""
        return of_densities(kind, self, other, epsilon)

    def log_density(self, x: Any) -> Any:
        """The logarithm of the density."""
        with np.errstate(divide="ignore"):
            return np.log(self.density(x))

    def panels(self) -> list[DensityPanel]:
        """Its density."""
        return [curve(self.family, self)]


@dataclass(frozen=True, eq=False)
class Mixture(Univariate):
    """A mixture of one conjugate family: beta (a, b), gamma (shape, rate) or normal (mean, sd)."""

    family: str
    first: Floats
    second: Floats
    weights: Floats
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        if len(self.weights) == 1:
            a, b = self.parameters
            first = value_words(a, b) if self.family == "normal" else f"{a:.6g}"
            return f"{self.family}({first}, {b:.6g})"
        mean = value_words(self.mean, self.sd)
        return f"<mixture of {len(self.weights)} {self.family}s, mean {mean}>"

    @property
    def parameters(self) -> tuple[float, float]:
        """The two parameters of a single law. Raises `InputError` for a mixture of several."""
        if len(self.weights) != 1:
            raise InputError(
                "parameters",
                f"a mixture of {len(self.weights)}",
                expected="a single distribution",
                remedy="Use its mean, sd and quantiles.",
            )
        return float(self.first[0]), float(self.second[0])

    def _law(self) -> Any:
        from scipy import stats

        if self.family == "beta":
            return stats.beta(self.first, self.second)
        if self.family == "gamma":
            return stats.gamma(self.first, scale=1.0 / self.second)
        return stats.norm(self.first, self.second)

    def moments(self) -> tuple[Floats, Floats]:
        """The mean and variance of each part."""
        a, b = self.first, self.second
        if self.family == "beta":
            return a / (a + b), a * b / ((a + b) ** 2 * (a + b + 1))
        if self.family == "gamma":
            return a / b, a / b**2
        return a, b**2

    @property
    def mean(self) -> float:
        """The mean."""
        return float(self.weights @ self.moments()[0])

    @property
    def sd(self) -> float:
        """The standard deviation."""
        means, variances = self.moments()
        return float(np.sqrt(self.weights @ (variances + (means - self.mean) ** 2)))

    def density(self, x: Any) -> Any:
        """The density."""
        return self._mixed("pdf", x)

    def cdf(self, x: Any) -> Any:
        """The distribution function."""
        return self._mixed("cdf", x)

    def log_density(self, x: Any) -> Any:
        """The logarithm of the density."""
        from scipy.special import logsumexp

        at = np.asarray(x, dtype=np.float64)
        if self.family == "normal" and len(self.weights) == 1:
            # Walkers ask for it very often, and SciPy's laws take long to make.
            off = (at - self.first[0]) / self.second[0]
            return -0.5 * off**2 - np.log(self.second[0] * np.sqrt(2 * np.pi))
        with np.errstate(divide="ignore"):
            parts = self._law().logpdf(at[..., None]) + np.log(self.weights)
        return logsumexp(parts, axis=-1)

    def _mixed(self, function: str, x: Any) -> Any:
        at = np.asarray(x, dtype=np.float64)
        mixed = np.asarray(getattr(self._law(), function)(at[..., None])) @ self.weights
        return float(mixed) if at.ndim == 0 else mixed

    def quantile(self, p: float) -> float:
        """The value exceeded with probability 1 - p. Raises `InputError` unless 0 < p < 1."""
        inner_probability("p", p)
        ends = np.asarray(self._law().ppf(p))
        low, high = float(ends.min()), float(ends.max())
        if len(self.weights) == 1 or not low < high:
            return low
        # Where nearly all mass lies at an end, rounding may put the quantile on it.
        if not self.cdf(low) < p:
            return low
        if not self.cdf(high) > p:
            return high
        from scipy.optimize import brentq

        return float(brentq(lambda x: self.cdf(x) - p, low, high, xtol=1e-13, rtol=1e-12))

    def samples(self, k: int, rng: np.random.Generator | None = None) -> Floats:
        """Independent draws."""
        rng = rng if rng is not None else np.random.default_rng()
        drawn_parts = rng.choice(len(self.weights), size=k, p=self.weights)
        a, b = self.first[drawn_parts], self.second[drawn_parts]
        if self.family == "beta":
            return np.asarray(rng.beta(a, b))
        if self.family == "gamma":
            return np.asarray(rng.gamma(a, 1.0 / b))
        return np.asarray(rng.normal(a, b))

    def to_dict(self) -> dict[str, Any]:
        """The mixture as plain data for JSON."""
        if len(self.weights) == 1:
            return self._summary() | {"parameters": list(self.parameters)}
        return self._summary() | {"components": len(self.weights)}


def single(family: str, first: float, second: float, notes: tuple[str, ...] = ()) -> Mixture:
    """A beta, gamma or normal distribution, as a mixture with a single part."""
    parameters = np.asarray([float(first)]), np.asarray([float(second)])
    return Mixture(family, parameters[0], parameters[1], np.ones(1), notes)


def mixture(
    family: str, first: Any, second: Any, log_weights: Any, notes: tuple[str, ...] = ()
) -> Mixture:
    """A mixture from unnormalised logarithms of weights; what weighs below 1e-16 is left out.

    Parts with the same parameters (up to rounding, in 1e-12) are merged and their weights added:
    else a mixture that becomes the next prior would have a part for each way that leads to it.
    """
    logs = np.asarray(log_weights, dtype=np.float64)
    parts = np.stack([np.broadcast_to(values, logs.shape) for values in (first, second)]).astype(
        float
    )
    keys = _digits(parts[0]) + 1j * _digits(parts[1])
    _, at, which = np.unique(keys, return_index=True, return_inverse=True)
    weights = np.bincount(which.ravel(), np.exp(logs - logs.max()))
    weighty = weights > 1e-16 * weights.sum()
    left = parts[:, at[weighty]]
    return Mixture(family, left[0], left[1], weights[weighty] / weights[weighty].sum(), notes)


def _digits(values: Floats) -> Floats:
    """The values in 40 binary digits."""
    mantissa, exponent = np.frexp(values)
    return np.asarray(np.ldexp(np.rint(np.ldexp(mantissa, 40)), exponent - 40))


@dataclass(frozen=True, eq=False)
class Density(Univariate):
    """A density on a fine grid of `x`, with its distribution function, by quadrature.

    `error` is an estimate of the quadrature's relative error: what halving the grid changes.
    """

    family: str
    x: Floats
    pdf: Floats
    cumulative: Floats
    centre: float
    spread: float
    error: float = 0.0
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<{self.family} density, mean {value_words(self.mean, self.sd)}>"

    @property
    def mean(self) -> float:
        """The mean."""
        return self.centre

    @property
    def sd(self) -> float:
        """The standard deviation."""
        return self.spread

    def density(self, x: Any) -> Any:
        """The density, interpolated."""
        density = np.interp(x, self.x, self.pdf, left=0.0, right=0.0)
        return float(density) if np.ndim(x) == 0 else density

    def cdf(self, x: Any) -> Any:
        """The distribution function, interpolated."""
        cdf = np.interp(x, self.x, self.cumulative, left=0.0, right=1.0)
        return float(cdf) if np.ndim(x) == 0 else cdf

    def quantile(self, p: float) -> float:
        """The value exceeded with probability 1 - p. Raises `InputError` unless 0 < p < 1."""
        inner_probability("p", p)
        return float(np.interp(p, self.cumulative, self.x))

    def samples(self, k: int, rng: np.random.Generator | None = None) -> Floats:
        """Independent draws."""
        rng = rng if rng is not None else np.random.default_rng()
        return np.asarray(np.interp(rng.random(k), self.cumulative, self.x))

    def to_dict(self) -> dict[str, Any]:
        """The distribution's summary as plain data for JSON."""
        return self._summary() | {"quadrature_error": self.error}


@dataclass(frozen=True, eq=False)
class Joint(Distribution):
    """The distribution of a vector: its marginals, and a function that draws it."""

    family: str
    names: tuple[str, ...]
    marginals: tuple[Univariate, ...]
    draw: Callable[[int, np.random.Generator], Floats] = field(repr=False)
    notes: tuple[str, ...] = ()
    parameters: tuple[float, ...] | None = None
    """The parameters, where it is a single Dirichlet law."""

    def __repr__(self) -> str:
        first_marginals = self.marginals[:_SHOWN]
        means = ", ".join(value_words(marginal.mean, marginal.sd) for marginal in first_marginals)
        more = ", ..." if len(self.marginals) > _SHOWN else ""
        return f"<{self.family} of {len(self.marginals)}, means ({means}{more})>"

    @property
    def mean(self) -> tuple[float, ...]:
        """The means."""
        return tuple(float(marginal.mean) for marginal in self.marginals)

    @property
    def sd(self) -> tuple[float, ...]:
        """The standard deviations."""
        return tuple(float(marginal.sd) for marginal in self.marginals)

    def quantile(self, p: float) -> tuple[float, ...]:
        """The quantile of each entry."""
        return tuple(float(marginal.quantile(p)) for marginal in self.marginals)

    def panels(self) -> list[DensityPanel]:
        """The density of each entry."""
        named = zip(self.names, self.marginals, strict=True)
        return [curve(name, marginal) for name, marginal in named]

    def samples(self, k: int, rng: np.random.Generator | None = None) -> Floats:
        """Independent draws of the whole vector: each row is a draw."""
        return self.draw(k, rng if rng is not None else np.random.default_rng())

    def to_dict(self) -> dict[str, Any]:
        """The distribution's summary as plain data for JSON."""
        plain = self._summary() | {"names": list(self.names)}
        return plain if self.parameters is None else plain | {"parameters": list(self.parameters)}


@dataclass(frozen=True, eq=False)
class Samples(Distribution):
    """Draws: a row for each draw, a column for each name. `diagnostics`: ESS and R-hat by name."""

    family: str
    names: tuple[str, ...]
    draws: Floats
    diagnostics: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.draws.setflags(write=False)
        object.__setattr__(self, "diagnostics", MappingProxyType(dict(self.diagnostics)))

    def __repr__(self) -> str:
        return f"<{len(self.draws)} samples of {', '.join(self.names[:_SHOWN])}>"

    @property
    def mean(self) -> tuple[float, ...]:
        """The means of the draws."""
        return tuple(self.draws.mean(axis=0).tolist())

    @property
    def sd(self) -> tuple[float, ...]:
        """The standard deviations of the draws."""
        return tuple(self.draws.std(axis=0).tolist())

    def quantile(self, p: float) -> tuple[float, ...]:
        """The quantiles of the draws. Raises `InputError` unless 0 < p < 1."""
        inner_probability("p", p)
        return tuple(np.quantile(self.draws, p, axis=0).tolist())

    def panels(self) -> list[DensityPanel]:
        """A histogram of each column."""
        return [histogram(name, self.draws[:, j]) for j, name in enumerate(self.names)]

    def samples(self, k: int, rng: np.random.Generator | None = None) -> Floats:
        """`k` of the draws, with replacement where there are fewer than `k`."""
        rng = rng if rng is not None else np.random.default_rng()
        many = len(self.draws)
        return np.asarray(self.draws[rng.choice(many, size=k, replace=k > many)])

    def to_dict(self) -> dict[str, Any]:
        """The summary of the draws as plain data for JSON, without the draws."""
        diagnostics = {name: dict(measured) for name, measured in self.diagnostics.items()}
        return self._summary() | {
            "names": list(self.names),
            "draws": len(self.draws),
            "diagnostics": diagnostics,
        }


def dirichlet(alpha: Floats, names: tuple[str, ...], notes: tuple[str, ...] = ()) -> Joint:
    """A Dirichlet distribution."""
    total = float(alpha.sum())
    marginals = tuple(single("beta", float(weight), total - float(weight)) for weight in alpha)
    return Joint(
        "dirichlet",
        names,
        marginals,
        lambda k, rng: np.asarray(rng.dirichlet(alpha, size=k)),
        notes,
        tuple(float(weight) for weight in alpha),
    )


def _plain(value: MeanOrMeans) -> float | list[float]:
    return list(value) if isinstance(value, tuple) else value
