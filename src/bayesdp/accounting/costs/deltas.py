"""Deltas that mechanisms have of their own, and whether a reading has room for them (theory 2.6b).

They add up. A reading sets a part of its delta aside for them before the first answer, and the
orders for Gaussian noise share the rest: so whatever is chosen after looking, both keep to delta.

### 2.6b Mechanisms with a delta of their own (new)

A mechanism may be `(eps, delta)`-DP without any zCDP cost: with probability `delta` it may tell
everything. A ledger keeps a third sum for those, `D`, of their deltas. The rule of 2.6 with `D`
beside it is not enough: somebody could spend the same delta twice, on Gaussian noise where the
answers fall one way and on such a mechanism where they fall the other.

**Rule.** Fix `D* <= delta` before the first answer, and orders with shares `delta_1 + ... + delta_r
<= delta - D*` as in 2.6. At every moment let `D <= D*`, and let the condition of some order `j`
hold, where a mechanism with a delta counts its `eps` and never `alpha_j eps^2/2`; or let all costs
be without zCDP and `E <= T`. Then everything together is `(T, delta)`-DP.

**Proof.** Fix adjacent `x, x'`. Let `p` and `q` be the laws of one step's answer under them, given
all earlier answers, and let the step be `(eps_t, delta_t)`-DP. Put `p^ = min(p, e^(eps_t) q)`,
density by density. The mass of `p - p^` is `P(A) - e^(eps_t) Q(A)` for the set `A` where `p >
e^(eps_t) q`, so at most `delta_t`. Replace `p` by `p^` in each such step: this gives a measure `P^
<= P` on transcripts. Replacing one step after the other, the mass that is lost is at most `E_P[sum
of delta_t]`, and the sum is at most `D*` on every transcript: so `P(S) - P^(S)`, over disjoint sets
`S` together, is at most `D*`. Under `P^` such a step has `z = ln p^/q <= eps_t` and a mass of at
most 1, so `E[e^((alpha - 1) z)] <= e^((alpha - 1) eps_t)`, and the supermartingales of 2.6 are
supermartingales. Its proof then gives `P^(S) <= e^T Q(S) + delta_1 + ... + delta_r`. Add `D*`. ∎
The same for the level "now and before" of 2.6. A mechanism that doesn't read the record in which
`x` and `x'` differ has `p = q`: so of deltas on disjoint blocks the largest counts, as in 2.7.

*Why not `alpha eps^2/2`:* that bound needs `z >= -eps` and a law; `p^` has neither. *Why not under
a population:* 3.10 multiplies a delta by `(e^L - 1) / (e^eps - 1)`, which depends on the sum `eps`
that is spent in the end. Which sum and which `D` come together may be chosen by the answers, and
nothing here bounds all pairs at once. Ledgers refuse that; the composition of fixed costs is 2.8.

*Checked:* who chooses among mechanisms with a delta, pure ones and Gaussian noise after every
answer, by backward induction: never above delta, and all of `D*` is attained
([tests](../tests/accounting/test_deltas.py)).
"""

from __future__ import annotations

from collections.abc import Sequence

from bayesdp.accounting.costs.readings import LevelFunction, Reading
from bayesdp.accounting.costs.spend import Spend, total_cost
from bayesdp.errors import Refusal
from bayesdp.notions import Cost
from bayesdp.numbers import UpperBound, up_words
from bayesdp.statements.base import exact_text


class UnreadDeltaError(Refusal):
    """Spends have deltas of their own, and a reading has no theorem or no delta for them."""


def unread_deltas(reading: Reading, cost: Cost) -> str | None:
    """Why a reading has no level for costs with deltas of mechanisms; None where it may have one.

    The deltas add up, and must stay within the part of delta that the reading set aside before the
    first answer (theory 2.6b).
    """
    if cost.dp_delta <= reading.mechanism_delta:  # 0 is within what every reading sets aside
        return None
    together = f"{reading.words()}: mechanisms have deltas of their own, which add up to"
    if reading.notion == "bdp":
        return (
            f"{together} {up_words(cost.dp_delta)}, and no theorem converts such costs where they "
            "may depend on earlier answers. Keep them under a DP reading, on a data set of its own."
        )
    return (
        f"{together} {up_words(cost.dp_delta)}, and it sets aside "
        f"{exact_text(reading.mechanism_delta)} for them. Use mechanisms with smaller deltas (a "
        "count by groups from data has its own: write a smaller delta below its [[query]]), or a "
        "reading with a larger mechanism_delta from the start."
    )


def check_deltas(reading: Reading, cost: Cost) -> None:
    """Raises `UnreadDeltaError` where the reading has no room for the mechanisms' own deltas."""
    reason = unread_deltas(reading, cost)
    if reason is not None:
        raise UnreadDeltaError(reason)


def within_deltas(level: LevelFunction) -> LevelFunction:
    """The same `level`, but refused where a reading has no room for the mechanisms' own deltas.

    Whatever a ledger reads levels by, it then counts deltas.
    """

    def checked(reading: Reading, spends: Sequence[Spend]) -> UpperBound:
        check_deltas(reading, total_cost(spends))
        return level(reading, spends)

    return checked
