"""How far features of another shape lead a logistic or Poisson regression astray.

    python benchmarks/shapes.py        some seconds

From noisy moments of (1, x, y) nobody can tell the shape of x's law; the posterior takes the one of
largest entropy with those moments. This is its limit for many records without noise, for features
of several shapes, and for two features that go together in several ways: by how much the intercept
and the slopes are off, and from how many records on that is half of a coefficient's standard
deviation (of an estimate without noise), so that a 90 % interval holds it in 86 % of the cases, and
in fewer above. Nothing is drawn.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from scipy import optimize, stats

from bayesdp.programs.run.posteriors.generalized_regression import RegressionRows

FAMILIES = {"logistic": 1, "poisson_regression": 20}
TRUTHS = ((0.0, 1.0), (-1.0, 2.0))
MIDDLES = (np.arange(4000) + 0.5) / 4000
HUMP = 0.1 * stats.norm.ppf(MIDDLES[::2])
FEW = 2 * MIDDLES.reshape(160, 25).mean(axis=1) - 1
X, U = (side.ravel() for side in np.meshgrid(FEW, FEW))
SHAPES = {
    "even": 2 * MIDDLES - 1,
    "lean: beta(1, 8)": 2 * stats.beta(1, 8).ppf(MIDDLES) - 1,
    "lean: beta(2, 6)": 2 * stats.beta(2, 6).ppf(MIDDLES) - 1,
    "two humps": np.concatenate([HUMP - 0.6, HUMP + 0.6]),
    "the bounds alone": np.asarray([-1.0, 1.0]),
    "-1, 0 and 1": np.asarray([-1.0, 0.0, 1.0]),
    "0 and 1": np.asarray([0.0, 1.0]),
    "9 of 10 at -1/2": np.concatenate([np.full(3600, -0.5), 2 * MIDDLES[::10] - 1]),
    "two, apart": np.c_[X, U],
    "two, half alike": np.c_[X, (X + U) / 2],
    "x, whether x > 0": np.c_[X, np.where(X > 0, 1.0, -1.0)],
    "x and its square": np.c_[X, 2 * X**2 - 1],
}
LEVELS = {"x, whether x > 0": (0, 2)}
"""How many values each feature is declared with, where that isn't many."""
SHARE = 0.5


def designed(x: Any) -> Any:
    """The rows (1, x...)."""
    return np.c_[np.ones(len(x)), x]


def limit(rows: RegressionRows, x: Any, truth: Any) -> Any:
    """The coefficients of the law of largest entropy that give the moments of x's own."""
    _, scaled = rows.grid
    seen, pairs = designed(x), np.triu_indices(scaled.shape[1])
    moments, own = (m[:, pairs[0]] * m[:, pairs[1]] for m in (scaled, seen))
    vary = np.ptp(moments, axis=0) > 1e-9
    moments, due = moments[:, vary], own[:, vary].mean(axis=0)

    def entropy(tilt: Any) -> Any:
        logs = moments @ tilt + rows.even
        weights = np.exp(logs - logs.max())
        law = weights / weights.sum()
        return float(np.log(weights.sum()) + logs.max() - tilt @ due), law @ moments - due

    start = np.zeros(len(due))
    tilt = optimize.minimize(entropy, start, jac=True, method="BFGS").x
    logs = moments @ tilt + rows.even
    law = np.exp(logs - logs.max()) / np.exp(logs - logs.max()).sum()

    def sums(law: Any, at: Any, line: Any) -> Any:
        mean, _ = rows.response(at @ line)
        return (law * mean) @ at

    released = sums(np.full(len(x), 1 / len(x)), seen, truth)
    return optimize.root(lambda line: sums(law, scaled, line) - released, truth).x


def deviation(rows: RegressionRows, x: Any, truth: Any) -> Any:
    """The standard deviation of an estimate from one record, without noise."""
    design, step = designed(x), 1e-4
    mean, variance = rows.response(design @ truth)
    slope = (rows.response(design @ truth + step)[0] - mean) / step
    bend = np.linalg.inv((design * slope[:, None]).T @ design)
    return np.sqrt(np.diag(bend @ ((design * variance[:, None]).T @ design) @ bend) * len(x))


def measure(family: str, shape: str, truth: tuple[float, float]) -> tuple[Any, float]:
    """By how much the coefficients are off, and from how many records on it counts.

    `truth` is the intercept and the slope, of each feature where there are two.
    """
    x = SHAPES[shape]
    many = 1 if x.ndim == 1 else x.shape[1]
    about = [(-1, 1, levels) for levels in LEVELS.get(shape, (0,) * many)]
    rows = RegressionRows.of(family, [FAMILIES[family], 1, 1, 1, *np.ravel(about)])
    line = np.asarray([truth[0], *[truth[1]] * many])
    off = limit(rows, x, line) - line
    with np.errstate(divide="ignore"):
        records = (SHARE * deviation(rows, x, line) / np.abs(off)) ** 2
    return off, float(records.min())


def main() -> int:
    """Print the table."""
    print(f"{'feature':<20}{'family':<20}{'line':>12}{'off by':>24}{'from n':>12}")
    for shape in SHAPES:
        for family in FAMILIES:
            for truth in TRUTHS:
                off, records = measure(family, shape, truth)
                line = f"{truth[0]:g}, {truth[1]:g}"
                each = ", ".join(f"{part:.3f}" for part in off)
                many = f"{records:,.0f}" if records < 1e6 else "above 1e6"
                print(f"{shape:<20}{family:<20}{line:>12}{each:>24}{many:>12}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
