"""A stationary Gaussian AR(1) from public or past data, gaps included, with a region.

The model: series are independent; each is a stationary Gaussian AR(1) with the same coefficient
`phi`, mean and variance. Let `p_phi` be the density of what is left of the data when mean and scale
are divided out (the maximal invariant); up to a factor without `phi` it is

```text
|V|^(-1/2) (1' V^-1 1)^(-1/2) (x' P x)^(-(n - 1)/2),
```

`V` the correlations under `phi`, gaps included, and `x' P x` the generalised least sum of squares.

**The region is valid for every number of records.** For each `phi0` alternatives `phi1` are fixed
before the data are seen, each with a share `s` of `alpha`, and the shares sum to 1. `p_phi1 /
p_phi0` has the mean 1 under `phi0`, so by Markov's inequality it reaches `1 / (s alpha)` with a
probability of at most `s alpha`. The region is all `phi0` for which no alternative reaches that: it
holds the true `phi` with confidence `1 - alpha`. Two alternatives, with a share of 0.45 each, lie
at the distance `sqrt(2 ln(2/alpha) / n)` in `arcsin phi` on either side, which is about the best
where `phi0` is nearly right; five more, from -0.9 to 0.9, tell apart what is far off. A poor choice
costs width, never confidence.

The factor of 3.8 d grows with `|phi|`, so the level over the region is that of its largest `|phi|`.
The region is searched on a grid of 401 points, and its ends by bisection in the cells beside the
outermost points that belong to it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesdp.arrays import Ints
from bayesdp.errors import InputError, UnsupportedError, whole_number
from bayesdp.fitting.comparing import FitCheck, dropped_rows
from bayesdp.fitting.diagnosing import (
    MOST_LAGS,
    check_next_lag,
    check_normal,
    check_seasons,
    check_spread,
)
from bayesdp.fitting.numbers_of import (
    Numbers,
    between_words,
    check_columns,
    check_confidence,
    complete_rows,
    confidence_words,
    time_column,
)
from bayesdp.populations import Autoregressive
from bayesdp.statements.conditions import Reads
from bayesdp.tables.cells.order_keys import order_step
from bayesdp.tables.cells.stored import SPACES

GRID = 401
FAR = (-0.9, -0.5, 0.0, 0.5, 0.9)
NEAR_SHARE, FAR_SHARE = 0.45, 0.02
"""Of alpha, for each alternative: two near ones and five far ones, 1 in all."""


@dataclass(frozen=True)
class AutoregressiveFit:
    """An AR(1): the estimate of its coefficient, its region, and the population.

    `coefficient` has the largest likelihood of the grid, `lower` and `upper` are the ends of the
    region that holds the true one with the stated `confidence`; `population` has the end that is
    larger in size. `records` of `series` series were used, and `dropped` rows have a missing cell.
    `checks` are tests of the model.
    """

    population: Autoregressive
    coefficient: float
    lower: float
    upper: float
    confidence: float
    series: int
    records: int
    dropped: int
    checks: tuple[FitCheck, ...] = ()

    @property
    def diagnostics(self) -> tuple[FitCheck, ...]:
        """The estimate with its region, in words, tests of the model, and what was left out."""
        text = (
            f"The correlation of neighbours is about {self.coefficient:.4g}, and "
            f"{between_words(self.lower, self.upper)} with confidence "
            f"{confidence_words(self.confidence)}. That series are independent stationary Gaussian "
            "AR(1) is assumed."
        )
        return (FitCheck("coefficient", text), *self.checks, *dropped_rows(self.dropped))

    def estimated(self) -> dict[str, Any]:
        """The coefficient and its region as plain data."""
        return {"coefficient": self.coefficient, "lower": self.lower, "upper": self.upper}


@dataclass(frozen=True)
class Observed:
    """Records by series and time: `first` of each series; each later one `after` its `before`.

    `gaps` are the steps between the two, whole numbers from 1 on; `owners` are the numbers of the
    series of later records, and `steps` how long after the first one of it they are.
    """

    first: Numbers
    before: Numbers
    after: Numbers
    gaps: Numbers
    owners: Ints
    steps: Numbers

    def innovations(self, phi: float) -> Numbers:
        """What is new in each later record, at the scale of one step: of one law under `phi`."""
        power = phi**self.gaps
        scale = np.sqrt((1.0 - phi * phi) / (1.0 - power * power))
        return (self.after - power * self.before) * scale

    def log_density(self, phi: float) -> float:
        """The logarithm of `p_phi`, up to a constant without `phi`."""
        power = phi**self.gaps
        left = 1.0 - power * power
        moved = self.after - power * self.before
        squares = float((self.first**2).sum() + (moved**2 / left).sum())
        crossed = float(self.first.sum() + (moved * (1.0 - power) / left).sum())
        ones = float(len(self.first) + ((1.0 - power) ** 2 / left).sum())
        freedom = len(self.first) + len(self.after) - 1
        rest = squares - crossed * crossed / ones
        logs = float(np.log(left).sum()) + math.log(ones) + freedom * math.log(rest)
        return -0.5 * logs

    @cached_property
    def far(self) -> float:
        """The largest log density of the alternatives that are the same for all `phi0`."""
        return max(self.log_density(phi) for phi in FAR)

    def allows(self, phi: float, confidence: float) -> bool:
        """Whether the region of this confidence has `phi` in it."""
        alpha, level = 1.0 - confidence, self.log_density(phi)
        if self.far - level >= math.log(1.0 / (FAR_SHARE * alpha)):
            return False
        distance = math.sqrt(2.0 * math.log(2.0 / alpha) / len(self.after))
        here, end = math.asin(phi), math.pi / 2 - 1e-6
        sides = (max(here - distance, -end), min(here + distance, end))
        threshold = level + math.log(1.0 / (NEAR_SHARE * alpha))
        return all(self.log_density(math.sin(side)) < threshold for side in sides)


def fit_autoregressive(
    table: object,
    value: str,
    time: str,
    *,
    series: str | None = None,
    step: float | str = 1.0,
    time_format: str | None = None,
    confidence: float = 0.95,
    length: int | None = None,
) -> AutoregressiveFit:
    """Fit an AR(1) to the numbers of the column `value`, in the order of the column `time`.

    `table` is what a study can name as its source, of public or past data: nothing is spent and
    nothing is protected. `time` holds numbers, dates or times, a `step` apart (a number, or a text
    such as "1 day") or a whole multiple of it (a gap); `time_format` is how dates are written, as
    in a study: `%d.%m.%Y`. `series` names the column that tells series
    apart. Rows with a missing cell are dropped, which makes gaps. `length` is the most steps that a
    series of the study may have, at least the longest one here (the default). Raises `InputError`
    for arguments and cells that can't be read, and `UnsupportedError` where the region reaches 1 or
    nothing fits.
    """
    check_confidence(confidence)
    check_columns(value=value, time=time, **({} if series is None else {"series": series}))
    reads: dict[str, Reads] = {value: "number"}
    if series is not None:
        reads[series] = "text"
    order = time_column(time, step, time_format)
    columns, dropped = complete_rows(table, reads, order)
    names = np.zeros(len(columns[0]), dtype=str)
    if series is not None:
        names = np.char.strip(columns[1].astype(str), SPACES)
    times, values = columns[-1].astype(float), columns[0].astype(float)
    observed, longest = _observed(times, values, names, time, order_step(order))
    if length is not None:
        length = whole_number("length", length, least=longest)
    grid = np.sin(np.linspace(-math.pi / 2, math.pi / 2, GRID + 2)[1:-1])
    lower, upper = _region(observed, grid, confidence)
    best = float(grid[int(np.argmax([observed.log_density(float(phi)) for phi in grid]))])
    worst = upper if upper >= -lower else lower
    count, records = len(observed.first), len(observed.first) + len(observed.after)
    source = (
        f"fitted to {count} series of {records} records: AR(1) coefficient "
        f"{between_words(lower, upper)} with confidence {confidence_words(confidence)}, "
        "if the series are independent stationary Gaussian AR(1); the population has the worst "
        "coefficient between them"
    )
    return AutoregressiveFit(
        population=Autoregressive(coefficient=worst, length=length or longest, source=source),
        coefficient=best,
        lower=lower,
        upper=upper,
        confidence=confidence,
        series=count,
        records=records,
        dropped=dropped,
        checks=_checks(observed, best),
    )


def _checks(observed: Observed, phi: float) -> tuple[FitCheck, ...]:
    """Tests of the model, at the coefficient `phi`."""
    shocks = observed.innovations(phi)
    late = observed.steps > (observed.steps.min() + observed.steps.max()) / 2.0
    neighbours = (observed.gaps[1:] == 1.0) & (observed.gaps[:-1] == 1.0)
    neighbours &= observed.owners[1:] == observed.owners[:-1]
    before, after = observed.before, observed.after
    # Times on one line, series further apart than any lag.
    spans = np.zeros(len(observed.first))
    np.maximum.at(spans, observed.owners, observed.steps)
    begins = np.r_[0.0, np.cumsum(spans + MOST_LAGS + 1.0)[:-1]]
    times = begins[observed.owners] + observed.steps
    return (
        check_normal(shocks, "shocks (what is new in a record)", "fit states (--model markov)"),
        check_spread(
            [(shocks[~late], shocks[late])],
            "time",
            "fit the part that is like what will be released",
        ),
        check_next_lag(before[:-1][neighbours], before[1:][neighbours], after[1:][neighbours]),
        check_seasons(shocks, times.astype(np.int64)),
    )


def _observed(
    times: Numbers, values: Numbers, names: NDArray[np.str_], time: str, step: float
) -> tuple[Observed, int]:
    order = np.lexsort((times, names))
    names, values, times = names[order], values[order], times[order].astype(float)
    spread = float(values.std()) if len(values) else 0.0
    if len(values) < 4 or not spread > 0.0:
        raise UnsupportedError("table", expected="four records that differ", shown=False)
    values = (values - values.mean()) / spread
    together = names[1:] == names[:-1]
    steps = np.diff(times)[together] / step
    gaps = np.rint(steps)
    if not step > 0.0 or bool((gaps < 1.0).any()) or bool((np.abs(steps - gaps) > 1e-6).any()):
        raise InputError(
            "step",
            step,
            expected=f"a number above 0; times of '{time}' in a series are multiples of it apart",
            remedy="Name the column of the series, and state the step between two records.",
        )
    if len(gaps) < 2:
        raise UnsupportedError("table", expected="two records after another", shown=False)
    starts = np.r_[True, ~together]
    owners = (np.cumsum(starts) - 1)[1:][together]
    since = np.cumsum(gaps)
    first_of = np.searchsorted(owners, owners)
    steps = since - (since - gaps)[first_of]
    observed = Observed(
        values[starts], values[:-1][together], values[1:][together], gaps, owners, steps
    )
    return observed, int(steps.max()) + 1


def _region(observed: Observed, grid: Numbers, confidence: float) -> tuple[float, float]:
    inside = [i for i, phi in enumerate(grid) if observed.allows(float(phi), confidence)]
    if not inside:
        raise UnsupportedError(
            "table",
            expected="series that some AR(1) coefficient fits, and none does",
            remedy='Use a chain of states (model = "markov").',
            shown=False,
        )
    if inside[0] == 0 or inside[-1] == len(grid) - 1:
        raise UnsupportedError(
            "confidence",
            confidence,
            expected="a region within (-1, 1), and it reaches an end",
            remedy="Use more records, or a chain of states.",
        )

    def end(inner: float, outer: float) -> float:
        for _ in range(30):
            middle = (inner + outer) / 2.0
            if observed.allows(middle, confidence):
                inner = middle
            else:
                outer = middle
        return outer

    first, last = inside[0], inside[-1]
    return (
        end(float(grid[first]), float(grid[first - 1])),
        end(float(grid[last]), float(grid[last + 1])),
    )
