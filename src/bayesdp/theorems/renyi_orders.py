"""The Rényi orders of a ledger: fixed by its total, before any cost is chosen (theory 2.6).

### 2.6 Costs that depend on earlier answers (new)

A ledger is more than 2.5: what is asked next, *and at which cost*, may depend on every answer so
far. One sum that is kept below a limit is safe all the same, for pure costs as for zCDP alone. Two
sums are not: "`(E, R)` has a level of at most `T` by the best order for it" is a union of
half-planes, one for each `alpha`, and somebody who sees how the answers fall can steer to the
half-plane that is worst.

*Counterexample.* `T = 3`, `delta = 0.001`. Gaussian noise may cost up to `R* = 0.38102`. Buy it in
40 equal steps, and after each look at the privacy loss so far: either go on, or put all that the
rule leaves, `T - min over alpha of (alpha R + k)`, into one randomized response. The best such
strategy has `P(S) - e^T Q(S)` above `0.0013` (backward induction over the loss, in [the
tests](../tests/accounting/test_delta.py)).

**Rule.** Fix orders `alpha_1, ..., alpha_r` and shares `delta_1 + ... + delta_r <= delta` before
the first answer. At every moment let some `j` satisfy `sum over steps of min(eps, alpha_j
eps^2/2) + alpha_j R + k(alpha_j, delta_j) <= T`, or let all costs be pure and `E <= T`. Then
everything together is `(T, delta)`-DP.

**Proof.** Costs only grow, so if a condition holds at the end it held all the time. Give each
transcript to the first condition that it satisfies at the end, the pure one first. Let `A_j` be the
interaction that is stopped before condition `j` would fail. Its steps have bounds `b_t` on the log
moments of order `alpha_j`, which depend on earlier answers, but `sum b_t <= T - k(alpha_j,
delta_j)` always; so `e^((alpha_j - 1)(z_t - b_1 - ... - b_t))` is a supermartingale and
`E[e^((alpha_j - 1) z)] <= e^((alpha_j - 1)(T - k))` at the end. By 2.5 the transcripts of any `S`
that belong to `j` have `P <= e^T Q + delta_j`; the pure ones have `P <= e^T Q`. Add up. ∎ The same
for BDP: each set of transcripts is converted on its own, and the deltas add. So the orders, and for
3.10 the point `(dp_epsilon, dp_delta)` too, depend on the reading alone: its total, delta,
population and adversary. A ledger doesn't store them. They are computed each time and rounded to
three digits, so that another machine finds the same ones; a version of bayesdp that would find
others must not read the ledgers of earlier ones with them.

**What is stated on the way.** After each release a certificate states the level "now and before":
the least number `L` for which the rule's condition holds with `L` in place of `T`. It depends on
costs that may depend on answers, so it is a random number; and somebody may stop at a moment `tau`
that they choose after looking. *Statement:* for every number `l` and every set `S` of transcripts
that end (at `tau`) with `L <= l`, `P(S) <= e^l Q(S) + delta`.

*Proof, way `renyi`.* Let `B_t` be the sum of the `b`'s of order `alpha_j` up to `t`. `M_t =
e^((alpha_j - 1)(z_t - B_t))` is a nonnegative supermartingale from 1 under `P`, because each `b` is
known before its answer: `E[M_tau] <= 1`. With `L_j = B_tau + k_j` and `w = e^(L_j - z)` the
inequality in the proof of 2.5 holds for each transcript, so `E_P[(1 - e^(L_j - z))+] <= (1 -
1/alpha_j)^alpha_j / (alpha_j - 1) e^(-(alpha_j - 1) k_j) E[M_tau] <= delta_j`: the order and `k_j`
were fixed, only `B` is random. So `P(S) <= E_Q[e^(L_j); S] + delta_j`, which is more than is
stated. Divide `S` by the `j` with the least `L_j` (the pure count has no delta) and add up. *Under
BDP* this holds for each coupled pair of databases, with the pair's own `b`: in clusters `m eps` and
`alpha m^2 rho`; for Gaussian records `alpha (f sqrt(rho) + (m - 1) sqrt(slack))^2`, whose sum is at
most that of the summed costs, by Cauchy and Schwarz. `L` is a function of the transcript alone, so
the inequality is linear in the pair's laws, and mixtures keep it. In a family `L` is at least the
level of the member that is true.

*Proof, way `point`.* Here a theorem's level is read at a DP epsilon `L_j` with the fixed `delta_j`
of the point. Let `A` be the part of `S` that belongs to point `j`, and `e` the largest `L_j` in it.
By the first proof, without a population, `g(x) = P[Y in A | x]` has `g(x) <= e^e g(x') + delta_j`
for all adjacent `x, x'`. That is all that 3.10 asks of `g`. A transcript with `L_j = e` is in `A`,
so some theorem's level at `e` is at most `l` and its delta at most the share of `j`: they hold for
all of `A`, by whichever theorem the others were read. Add up. ∎

The level of a data set's *first* release, and a release's own level, use an order that is best for
that release. They are statements about that release, whatever comes later; whether to stop after it
must not be counted against the same delta again. *Checked:* the best strategies that choose among
Laplace-like and Gaussian costs after every answer and stop when they like
([tests](../tests/accounting/test_delta.py)); with `k_j` left out of `L` they exceed delta.

bayesdp takes four orders: the best one for Gaussian noise alone, with 29/32 of delta, which costs
0.4 % of noise; and those with 2, 4 and 8 times its `alpha - 1`, with 1/32 each, for data sets where
pure costs take much of the total. A ledger's level of little spent therefore looks high, as part of
the total is set aside for delta at once. The level of one release, whose costs are fixed when it is
priced, uses 2.5 and is lower. Different theorems for one population bound the same coupled pairs of
databases, so the lowest bound of each order counts. *Checked:* the strategy above, against this
rule: below delta.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from bayesdp.leakage.deadline import NEVER
from bayesdp.leakage.zcdp import largest_rho
from bayesdp.notions import ApproxDP, Cost
from bayesdp.numbers import UpperBound, down
from bayesdp.populations import Family
from bayesdp.theorems import delta_at, quickest_first
from bayesdp.theorems.base import AnyTheorem, Question, Theorem

SHARES = (29.0 / 32.0, 1.0 / 32.0, 1.0 / 32.0, 1.0 / 32.0)
"""How delta is divided between a total's orders; exact in doubles, and 1 together."""
QUICK = 0.1
"""A ledger's points are chosen by theorems that take fewer seconds for a level."""
_POINTS = 40
"""How many costs are tried for the point of a total; each is proved, and more could only allow
more."""
_SHRINK = 0.8
"""The next cost that is tried is this share of the last; only the sharpness depends on it."""
LEAST_DELTA = 1e-290
"""Smaller deltas are refused: shares of them are beyond the doubles."""


@dataclass(frozen=True, slots=True)
class RenyiOrder:
    """One Rényi order with its share of delta.

    A `dp_delta` above 0 is that of the point that is converted (the way `point`): all orders of a
    total have one, or none has.
    """

    alpha: float
    delta: float
    dp_delta: float = 0.0


def bounds_divergence(theorem: AnyTheorem) -> bool:
    """Whether the theorem bounds Rényi divergences: it then converts zCDP costs directly."""
    return type(theorem).renyi is not Theorem.renyi


def orders_for(question: Question, total: float, delta: float) -> tuple[RenyiOrder, ...]:
    """The Rényi orders for a total, and their shares of delta; they depend on nothing else.

    The first is the best one where all costs are those of Gaussian noise. The others, with 2, 4 and
    8 times its `alpha - 1`, are for totals of which pure costs take about 1/2, 3/4 and 7/8.
    """
    # A ledger's orders depend on nothing else, so on no clock either.
    timeless = replace(question, deadline=NEVER, seconds=1.0, stop_after=None)
    return _orders(timeless, float(total), float(delta))


@lru_cache(maxsize=64)
def dp_orders(total: float, delta: float) -> tuple[RenyiOrder, ...]:
    """The orders where a Rényi divergence is converted at the end: those of DP itself too."""
    parts = [down(share * delta, 1) for share in SHARES]
    alpha = _rounded(largest_rho(total, parts[0]).alpha - 1.0)
    return tuple(RenyiOrder(1.0 + alpha * 2.0**k, part) for k, part in enumerate(parts))


def _rounded(value: float) -> float:
    """Three digits: the last bits of another machine must not change the orders of a ledger."""
    return float(f"{value:.3g}")


@lru_cache(maxsize=64)
def _orders(question: Question, total: float, delta: float) -> tuple[RenyiOrder, ...]:
    parts = [down(share * delta, 1) for share in SHARES]
    size = question.group_size
    best = _LargestCost(largest_rho(total, parts[0]).rho.value / size**2, 2.0, 0.0)
    if size > 1 and not isinstance(question.population, Family):
        for theorem in quickest_first(question):
            if not bounds_divergence(theorem) and theorem.expected_seconds(question) < QUICK:
                best = max(best, _best_point(theorem, question, total, parts[0], best.rho))
    if best.dp_delta == 0.0:
        return dp_orders(total, delta)
    return tuple(
        RenyiOrder(
            1.0 + _rounded(best.alpha - 1.0) * 2.0**k,
            part,
            down(_rounded(0.995 * best.dp_delta) * share / SHARES[0], 3),
        )
        for k, (part, share) in enumerate(zip(parts, SHARES, strict=True))
    )


@dataclass(frozen=True, slots=True, order=True)
class _LargestCost:
    """The largest zCDP cost that a total allows, its Rényi order, and the DP delta of its point.

    The DP delta is 0 where no point of the DP curve is behind it. Larger costs are more.
    """

    rho: float
    alpha: float
    dp_delta: float


def _best_point(
    theorem: AnyTheorem, question: Question, total: float, delta: float, least: float
) -> _LargestCost:
    """The largest zCDP cost by a theorem.

    Not looked for below `least`: what another theorem or group privacy allows.
    """
    best = _LargestCost(0.0, 2.0, 0.0)
    for power in range(_POINTS):
        dp_epsilon = total * _SHRINK**power
        if largest_rho(dp_epsilon, delta).rho.value < max(least, best.rho):
            break
        answer = _level_of(theorem, question, dp_epsilon)
        if answer is None or not answer <= total:
            continue
        grown = delta_at(question, answer, ApproxDP(UpperBound(dp_epsilon), UpperBound(1.0)))
        dp_delta = down(min(delta, delta / grown * (1.0 - 1e-6)), 4)
        if not dp_delta * SHARES[-1] > LEAST_DELTA:
            continue  # the level is so large that no point's delta is left
        allowed = largest_rho(dp_epsilon, dp_delta)
        best = max(best, _LargestCost(allowed.rho.value, allowed.alpha, dp_delta))
    return best


def _level_of(theorem: AnyTheorem, question: Question, dp_epsilon: float) -> UpperBound | None:
    """The theorem's level of all mechanisms of this cost, however long it takes."""
    cost = Cost.of(dp_epsilon)
    if theorem.refusal(question, cost) is not None:
        return None
    return max(theorem.bound(question, cost).epsilon, UpperBound(dp_epsilon))
