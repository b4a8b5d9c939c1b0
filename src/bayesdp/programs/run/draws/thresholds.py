"""The first query above a threshold, with discrete noise on the steps of the queries.

With `S` the sensitivity of each query, slack included, the threshold gets Laplace noise of scale
`5/2 S / epsilon` and each query noise of its own, of scale `10/3 S / epsilon`. The place of the
first noisy query that is at least the noisy threshold costs `2/5 + 2 * 3/10` of epsilon (theory
8.5). All numbers are whole numbers of steps, and comparisons are exact.

**The first query above a threshold** (`above-threshold`). Let each of the queries `q_1 ... q_k`
move by at most `S`. With `R` Laplace noise of scale `s = 5 S / (2 e)` and `V_1 ... V_k` of scale
`t = 10 S / (3 e)`, all independent, the place `i` of the first `q_i + V_i >= T + R` is shown, or
`k + 1` for none. Its cost is `e`, whatever `k` (Dwork, Naor, Reingold, Rothblum & Vadhan 2009, with
the noise of a query drawn once and no value shown: Lyu, Su & Li, VLDB 2017, algorithm 1).

*Proof.* Let `q` and `q'` be the queries on two neighbours. Write `f(r) = P[q_j + V_j < T + r for
all j < i]` and `g(r) = P[q_i + V_i >= T + r]`, and `f'`, `g'` for `q'`. Given `R = r` the queries'
noises are independent, so place `i` has the probability `sum over r of P[R = r] f(r) g(r)`. Since
`q'_j <= q_j + S`, every `V_j` that keeps `q_j` below `T + r` keeps `q'_j` below `T + r + S`: `f(r)
<= f'(r + S)`. Since `q'_i >= q_i - S`, a noise `V_i` at which `q_i` is above `T + r` is, once `2 S`
larger, one at which `q'_i` is above `T + r + S`, and `P[V = v] <= exp(2 S / t) P[V = v + 2 S]`:
`g(r) <= exp(2 S / t) g'(r + S)`. And `P[R = r] <= exp(S / s) P[R = r + S]`. So the sum is at most
`exp(S / s + 2 S / t)` times that of `q'`, and `S / s + 2 S / t = 2 e / 5 + 3 e / 5`. For none the
sum is over `P[R = r] f(r)` alone: `exp(S / s)`. ∎

On steps, `S` is the whole number of steps that a query moves at most, `r + S` is a step, and the
discrete law has the same two inequalities. The part of a query that is public, and `T`, need not be
steps: the comparison is with `T - offset`, the same for both neighbours. A record that only enters
or leaves and moves each query by at most `A` costs `e A / S`. Queries that do not move and need no
noise are compared as they are. What is shown is a place: the noisy query itself is not.
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
