"""Whether numbers fit the Gaussian model that was fitted to them: published tests, in sentences.

Each test has a p-value that is about right for many records, and a sentence that says what follows
for a level. A test that says nothing doesn't prove the model: few records hide much. What is tested
is what has one law under the fitted model: the cluster means and the contrasts within clusters, the
records by role, the innovations of a series.

*Sources:* D'Agostino & Pearson (1973) for normality, Mardia (1970) for joint normality, Brown &
Forsythe (1974) for equal spreads, Box (1949) for equal covariances, Wald & Wolfowitz (1943) for
order (by ranks), Quenouille (1949) for the next lag, Box & Pierce (1970) for later ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from bayesdp.arrays import Ints
from bayesdp.fitting.comparing import SIGNIFICANT, FitCheck, p_words
from bayesdp.fitting.numbers_of import Numbers

LEAST_VALUES = 20
"""Fewer values are not tested: the laws of the statistics are those for many."""

MOST_LAGS = 400
"""Seasons of more steps are not looked for."""

MOST_STEPS = 2**24
"""Series that span more steps in all are not searched for seasons."""

OTHER_MODEL = 'declare clusters in which anything is possible (model = "clusters")'


def _check(name: str, p_value: float, fits: str, speaks: str) -> FitCheck:
    """The check in a sentence, `fits` or `speaks` (against), with the p-value before its colon."""
    good = p_value >= SIGNIFICANT
    begin, _, rest = (fits if good else speaks).partition(": ")
    sentence = f"{begin} ({p_words(p_value)})" + (f": {rest}" if rest else "")
    return FitCheck(name, f"{sentence}.", good, p_value=p_value)


def _untested(name: str, question: str, reason: str) -> FitCheck:
    return FitCheck(name, f"{question} was not tested: {reason}.")


def check_normal(values: Numbers, what: str, remedy: str) -> FitCheck:
    """Whether these `values`, independent and of one law, are Gaussian; `what` names them."""
    from scipy.stats import kurtosis, normaltest, skew

    name = f"normality of {what}"
    if len(values) < LEAST_VALUES:
        return _untested(name, f"Whether {what} are Gaussian", f"there are {len(values)}")
    if not float(values.std()) > 0.0:
        return _untested(name, f"Whether {what} are Gaussian", "they are equal")
    moments = f"skewness {skew(values):.2f}, excess kurtosis {kurtosis(values):.2f}"
    return _check(
        name,
        float(normaltest(values).pvalue),
        f"No departure of {what} from a Gaussian law is seen",
        f"{what[0].upper()}{what[1:]} are not Gaussian, {moments}: levels of Gaussian populations "
        f"are not about such values; fit their logarithms if the tail is to the right, or {remedy}",
    )


def check_jointly_normal(records: Numbers) -> FitCheck:
    """Mardia's tests of skewness and kurtosis together; `records` has a row for each cluster."""
    from scipy.stats import chi2, norm

    name, (count, size) = "joint normality", records.shape
    if count < max(LEAST_VALUES, 3 * size):
        return _untested(name, "Whether clusters are jointly Gaussian", f"there are {count}")
    centred = records - records.mean(axis=0)
    root = np.linalg.cholesky(centred.T @ centred / count)
    white = np.linalg.solve(root, centred.T).T
    # sum over i, j of (w_i . w_j)^3, by the third moments.
    thirds = np.einsum("ni,nj,nk->ijk", white, white, white, optimize=True)
    skewness = float((thirds**2).sum()) / count**2
    kurtosis = float(((white**2).sum(axis=1) ** 2).mean())
    freedom = size * (size + 1) * (size + 2) / 6
    tails = (
        float(chi2.sf(count * skewness / 6.0, freedom)),
        2.0
        * float(
            norm.sf(abs(kurtosis - size * (size + 2)) / math.sqrt(8.0 * size * (size + 2) / count))
        ),
    )
    return _check(
        name,
        min(1.0, 2.0 * min(tails)),
        "No departure of clusters from a joint Gaussian law is seen",
        "Clusters are not jointly Gaussian: levels of Gaussian populations are not about such "
        f"values; fit their logarithms if tails are to the right, or {OTHER_MODEL}",
    )


def check_spread(halves: Sequence[tuple[Numbers, Numbers]], name: str, remedy: str) -> FitCheck:
    """Whether values of the first half of the `name` spread as those of the second.

    `halves` has a pair for each kind of value; the least p-value counts, times their number.
    """
    from scipy.stats import levene

    title = f"spread over the {name}"
    if any(min(len(half) for half in pair) < LEAST_VALUES for pair in halves):
        reason = f"a half has fewer than {LEAST_VALUES} values"
        return _untested(title, f"Whether the spread changes over the {name}", reason)
    p_values = [float(levene(*pair, center="median").pvalue) for pair in halves]
    worst = int(np.nanargmin(p_values)) if not np.isnan(p_values).all() else 0
    p_value = min(1.0, len(halves) * p_values[worst])
    first, second = (float(half.std()) for half in halves[worst])
    return _check(
        title,
        1.0 if math.isnan(p_value) else p_value,
        f"Both halves of the {name} spread alike, as far as seen",
        f"The halves of the {name} differ in spread, by the factor {second / first:.3g}: one law "
        f"is fitted where there are two, and the level may be too low for one of them; {remedy}",
    )


def check_places(values: Numbers, members: Ints) -> FitCheck:
    """Whether rows spread alike by their place in the cluster; `members` are cluster numbers."""
    name = "spread by place"
    sizes = np.bincount(members)
    if sizes.min() < sizes.max() or len(sizes) < LEAST_VALUES:
        reason = "clusters differ in size" if sizes.min() < sizes.max() else "there are too few"
        return _untested(name, "Whether rows spread alike by their place in the cluster", reason)
    order = np.argsort(members, kind="stable")
    rows = values[order].reshape(len(sizes), -1)
    distances = np.abs(rows - np.median(rows, axis=0))
    p_value = place_p_value(distances.ravel(), members[order])
    return _check(
        name,
        1.0 if p_value is None else p_value,
        "Rows spread alike by their place in the cluster, as far as seen",
        "Rows spread differently by their place in the cluster: with unequal spreads one record "
        "may tell more of another than the correlation says, and the level is too low; use --model "
        "gaussian-roles with the column that tells the rows of a cluster apart",
    )


def place_p_value(values: Numbers, members: Ints) -> float | None:
    """How likely means that differ so much by place in the cluster are, if rows are exchangeable.

    The F test of the places in a two-way layout: exact for exchangeable Gaussian rows. `values` are
    in the order of the table, `members` are the numbers of their clusters, from 0. `None` where
    clusters differ in size, or there are fewer than three.
    """
    from scipy.stats import f

    sizes = np.bincount(members)
    clusters, size = len(sizes), int(sizes.min())
    if sizes.max() > size or clusters < 3 or size < 2:
        return None
    rows = values[np.argsort(members, kind="stable")].reshape(clusters, size)
    rest = rows - rows.mean(axis=1, keepdims=True)
    places = rest.mean(axis=0)
    between = clusters * float((places**2).sum()) / (size - 1)
    inside = float(((rest - places) ** 2).sum()) / ((clusters - 1) * (size - 1))
    if not inside > 0.0:
        return 0.0
    return float(f.sf(between / inside, size - 1, (clusters - 1) * (size - 1)))


def check_file_order(levels: Numbers) -> FitCheck:
    """Whether clusters beside each other in the table are alike; a number for each, in order."""
    from scipy.stats import norm, rankdata

    name = "clusters in the order of the table"
    if len(levels) < LEAST_VALUES:
        return _untested(name, "Whether clusters depend on each other", f"there are {len(levels)}")
    ranks = rankdata(levels) - (len(levels) + 1) / 2.0
    correlation = float((ranks[1:] * ranks[:-1]).sum() / (ranks**2).sum())
    return _check(
        name,
        2.0 * float(norm.sf(abs(correlation) * math.sqrt(len(levels)))),
        "Clusters beside each other in the table are not alike, as far as seen",
        f"Clusters beside each other in the table are alike, rank correlation {correlation:.2g}: "
        "clusters are assumed independent, and where they share a place or a time the level is too "
        "low; use that as the cluster, or subtract a public mean of it (sorted values look the "
        "same: shuffle a table that was sorted by its values)",
    )


def check_covariances(records: Numbers) -> FitCheck:
    """Box's test: both halves of the clusters, in the order of the table, have one covariance."""
    from scipy.stats import chi2

    name, (count, size) = "covariance over the table", records.shape
    halves = np.array_split(records, 2)
    if min(map(len, halves)) < max(LEAST_VALUES, 3 * size):
        reason = f"there are {count} clusters"
        return _untested(name, "Whether the covariance changes over the table", reason)
    freedoms = np.array([len(half) - 1.0 for half in halves])
    covariances = [np.cov(half, rowvar=False) for half in halves]
    total = freedoms.sum()
    pooled = sum(f * c for f, c in zip(freedoms, covariances, strict=True)) / total
    logs = [np.linalg.slogdet(c)[1] for c in (*covariances, pooled)]
    statistic = total * logs[-1] - float(freedoms @ np.array(logs[:-1]))
    scale = (2.0 * size**2 + 3.0 * size - 1.0) / (6.0 * (size + 1.0))
    statistic *= 1.0 - scale * float((1.0 / freedoms).sum() - 1.0 / total)
    return _check(
        name,
        float(chi2.sf(max(statistic, 0.0), size * (size + 1) / 2)),
        "Both halves of the table have one covariance, as far as seen",
        "The halves of the table differ in covariance: one law is fitted where there are two, and "
        "the level may be too low for one of them; fit the part that is like what will be released",
    )


def check_next_lag(first: Numbers, second: Numbers, third: Numbers) -> FitCheck:
    """Whether a record depends on the last but one, given the last: the partial correlation.

    `first`, `second` and `third` are the numbers of all runs of three neighbours, oldest first.
    """
    from scipy.stats import norm

    name = "lag 2 against lag 1"
    if len(first) < LEAST_VALUES:
        return _untested(name, "Whether lag 2 fits better", f"there are {len(first)} runs of three")
    inverse = np.linalg.pinv(np.cov(np.stack([first, second, third])))
    partial = -float(inverse[0, 2] / math.sqrt(inverse[0, 0] * inverse[2, 2]))
    return _check(
        name,
        2.0 * float(norm.sf(abs(partial) * math.sqrt(len(first)))),
        "Lag 2 is not seen to fit better than lag 1",
        f"Given the last record, the one before it still counts, partial correlation {partial:.2g}"
        ": the series remembers more than AR(1), and its level may be too low; use coarser "
        "periods, or states (--model markov --order 2, with --cuts for the states). What level "
        "either has, only a fit tells",
    )


def check_seasons(innovations: Numbers, steps: Ints) -> FitCheck:
    """Whether innovations some lag apart are correlated; the least p-value counts, times the lags.

    `steps` are the times of the innovations in steps, rising, and further apart than any lag from
    one series to the next.
    """
    from scipy.fft import irfft, next_fast_len, rfft
    from scipy.stats import norm

    name = "seasons"
    lags = min(MOST_LAGS, len(innovations) // 4)
    span = int(steps[-1] - steps[0]) + 1 if len(steps) else 0
    if lags < 3 or span > MOST_STEPS:
        reason = "gaps are too long" if span > MOST_STEPS else "there are too few records"
        return _untested(name, "Whether there are seasons", reason)
    places = steps - steps[0]
    length = next_fast_len(span + lags + 1, real=True)

    def products(numbers: Numbers) -> Numbers:
        """The sum of the products of numbers that are 3, 4, ... steps apart."""
        along = np.zeros(length)
        along[places] = numbers
        sums: Numbers = irfft(np.abs(rfft(along)) ** 2, length)[3 : lags + 1]
        return sums

    pairs = np.rint(products(np.ones(len(places))))
    standard = innovations / math.sqrt(float((innovations**2).mean()))
    sums = products(standard)
    known = pairs >= LEAST_VALUES
    if not known.any():
        return _untested(name, "Whether there are seasons", "there are too few neighbours")
    scores = np.where(known, np.abs(sums) / np.sqrt(np.maximum(pairs, 1.0)), 0.0)
    best = int(scores.argmax())
    # A season shows at its multiples too: the first of about the same correlation is told.
    correlations = np.where(known, sums / np.maximum(pairs, 1.0), 0.0)
    alike = np.abs(correlations) >= 0.8 * abs(correlations[best])
    lag = 3 + int(np.flatnonzero(alike & (scores >= 0.5 * scores[best]))[0])
    return _check(
        name,
        min(1.0, 2.0 * float(norm.sf(scores[best])) * int(known.sum())),
        f"No season of up to {lags} steps is seen",
        f"Shocks {lag} steps apart are correlated, {correlations[lag - 3]:.2g}: there is a season, "
        "which AR(1) has not, and records a season apart tell more of each other than its level "
        "says; subtract a public mean by season, or use whole seasons as the periods",
    )
