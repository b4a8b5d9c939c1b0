"""The first query above a threshold, with discrete noise on the steps of the queries.

With `S` the sensitivity of each query, slack included, the threshold gets Laplace noise of scale
`5/2 S / epsilon` and each query noise of its own, of scale `10/3 S / epsilon`. The place of the
first noisy query that is at least the noisy threshold costs `2/5 + 2 * 3/10` of epsilon (theory
8.5). All numbers are whole numbers of steps, and comparisons are exact.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil

from bayesdp.programs.ir import Release
from bayesdp.programs.run.draws.noise import OF_QUERY, NoiseCalibration, Samplers
from bayesdp.programs.run.values.grid_steps import fits
from bayesdp.programs.run.values.private import MOST, PrivateValues, common


def first_above(
    release: Release, values: PrivateValues, calibration: NoiseCalibration, samplers: Samplers
) -> Fraction:
    """The place that a release shows, of the first query found above, or how many there are.

    `values` evaluate the queries, `calibration` has the sensitivity of each, and `samplers` draw
    the noise.
    """
    queries, threshold = release.args
    limit = values.public.number(threshold)
    amounts = [values.amount(values.public.filled(query)) for query in queries.args]
    if not calibration.sensitivity:
        above = [amount.totals[0] >= limit for amount in amounts]
        return Fraction(above.index(True) if True in above else len(above))
    lattice, slack = Fraction(0), max(amount.slack for amount in amounts)
    for amount in amounts:
        lattice = common(lattice, amount.lattice)
    unit, slack = calibration.grid(lattice, slack, OF_QUERY)
    while not all(fits(amount, unit) for amount in amounts):
        unit = 2 * unit
        slack += unit
    scales = calibration.threshold(unit, slack)
    steps = [max(-MOST, min(MOST, round(amount.values[0] / unit))) for amount in amounts]
    (raised,) = samplers.laplace([0], scales[0])
    noisy = samplers.laplace(steps, scales[1])
    for at, (number, amount) in enumerate(zip(noisy, amounts, strict=True)):
        # What is public of a query, its offset, belongs to the threshold: any number, no step.
        if number >= raised + ceil((limit - amount.offsets[0]) / unit):
            return Fraction(at)
    return Fraction(len(amounts))
