"""How far features of another shape lead a logistic or Poisson regression astray.

    python benchmarks/shapes.py        some seconds

From noisy moments of (1, x, y) nobody can tell the shape of x's law; the posterior takes the one of
largest entropy with those moments. This is its limit for many records without noise, for features
of several shapes: by how much the intercept and the slope are off, and from how many records on
that is half of a coefficient's standard deviation (of an estimate without noise), so that a 90 %
interval holds it in 86 % of the cases, and in fewer above. Nothing is drawn.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from scipy import optimize, stats

from bayesdp.programs.run.generalized import RegressionRows

FAMILIES = {"logistic": 1, "poisson_regression": 20}
TRUTHS = ((0.0, 1.0), (-1.0, 2.0))
MIDDLES = (np.arange(4000) + 0.5) / 4000
HUMP = 0.1 * stats.norm.ppf(MIDDLES[::2])
SHAPES = {
    "even": 2 * MIDDLES - 1,
    "lean: beta(1, 8)": 2 * stats.beta(1, 8).ppf(MIDDLES) - 1,
    "lean: beta(2, 6)": 2 * stats.beta(2, 6).ppf(MIDDLES) - 1,
    "two humps": np.concatenate([HUMP - 0.6, HUMP + 0.6]),
    "the bounds alone": np.asarray([-1.0, 1.0]),
    "-1, 0 and 1": np.asarray([-1.0, 0.0, 1.0]),
    "0 and 1": np.asarray([0.0, 1.0]),
    "9 of 10 at -1/2": np.concatenate([np.full(3600, -0.5), 2 * MIDDLES[::10] - 1]),
}
SHARE = 0.5


def limit(rows: RegressionRows, x: Any, truth: Any) -> Any:
    """The coefficients of the law of largest entropy that give the moments of x's own."""
    points, scaled = rows.grid
    moments, even = scaled[:, 1:] ** np.asarray([[1, 2]]), rows.even
    due = np.asarray([x.mean(), (x**2).mean()])

    def entropy(tilt: Any) -> float:
        logs = moments @ tilt + even
        return float(np.log(np.exp(logs - logs.max()).sum()) + logs.max() - tilt @ due)

    logs = moments @ optimize.minimize(entropy, np.zeros(2), method="BFGS").x + even
    law = np.exp(logs - logs.max()) / np.exp(logs - logs.max()).sum()

    def sums(law: Any, at: Any, line: Any) -> Any:
        mean, _ = rows.response(line[0] + line[1] * at)
        return np.asarray([(law * mean).sum(), (law * at * mean).sum()])

    seen = sums(np.full(len(x), 1 / len(x)), x, truth)
    return optimize.root(lambda line: sums(law, points[:, 1], line) - seen, truth).x


def deviation(rows: RegressionRows, x: Any, truth: Any) -> Any:
    """The standard deviation of an estimate from one record, without noise."""
    line, step = truth[0] + truth[1] * x, 1e-4
    mean, variance = rows.response(line)
    slope = (rows.response(line + step)[0] - mean) / step
    design = np.c_[np.ones(len(x)), x]
    bend = np.linalg.inv((design * slope[:, None]).T @ design)
    return np.sqrt(np.diag(bend @ ((design * variance[:, None]).T @ design) @ bend) * len(x))


def measure(family: str, shape: str, truth: tuple[float, float]) -> tuple[Any, float]:
    """By how much both coefficients are off, and from how many records on it counts."""
    rows = RegressionRows.of(family, [FAMILIES[family], 1, 1, 1, -1, 1, 0])
    x, line = SHAPES[shape], np.asarray(truth)
    off = limit(rows, x, line) - line
    with np.errstate(divide="ignore"):
        records = (SHARE * deviation(rows, x, line) / np.abs(off)) ** 2
    return off, float(records.min())


def main() -> int:
    """Print the table."""
    print(f"{'feature':<20}{'family':<20}{'line':>12}{'off by':>18}{'from n':>12}")
    for shape in SHAPES:
        for family in FAMILIES:
            for truth in TRUTHS:
                off, records = measure(family, shape, truth)
                line = f"{truth[0]:g}, {truth[1]:g}"
                both = f"{off[0]:.3f}, {off[1]:.3f}"
                many = f"{records:,.0f}" if records < 1e6 else "above 1e6"
                print(f"{shape:<20}{family:<20}{line:>12}{both:>18}{many:>12}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
