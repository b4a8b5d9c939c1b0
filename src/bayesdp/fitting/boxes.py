"""Laws between bounds on every cell, and few of them that have the largest level.

**Statement.** Let a cluster have `m` records, and let `l(x) <= pi(x) <= u(x)` for every cell `x` of
its joint law `pi`. For a record `i`, two of its values `a, a'`, and two disjoint sets `P` and `Q`
of settings of the other records, neither of them empty, let `pi_(P, Q)` be the law with weights `u`
on the cells `(a, v)`, `v` in `P`, and `(a', v)`, `v` in `Q`, and `l` on all others. Then the level
`L(eps)` of every law between the bounds is at most the largest one of these `pi_(P, Q)`, for every
adversary. For two records `Q` may be taken as all settings outside `P`.

If neither `pi` nor the bounds change where the records are put in another order (exchangeable
records), then the first record and sets `P`, `Q` that don't change either are enough.

**Proof.** By 3.3, `L(eps) - eps` is the largest of `ln (p . h / q . h)`, `p` and `q` the laws of
the unknown records given `x_i = a, x_K` and given `x_i = a', x_K`, over `h > 0` that are
log-Lipschitz; which `h` are, doesn't depend on `pi`. Fix the attack and an `h` with a ratio above
1: others are of no account, as levels are at least `eps`. Let `w` be weights between the bounds.
Then `p . h = sum w(a, x_K, v) h(v) / sum w(a, x_K, v)` whatever the sum of all weights, and `p`
depends on cells with `x_i = a` only, `q` on cells with `x_i = a'` only: the two can be moved apart
independently. Let `t` be the largest `p . h` over all `w`. The sum of `w(a, x_K, v) (h(v) - t)` is
0 where `t` is attained, and at most 0 elsewhere; and it doesn't fall if `w` becomes `u` where `h >=
t`, and `l` where not. So these weights attain `t`, with `P` the set where `h >= t`, which isn't
empty. Likewise the least `q . h`, `t'`, is attained with `u` on the set `Q` where `h <= t'`, and
`l` elsewhere. As `t > t'`, the two are disjoint. They are sets of settings of the unknown records
beside `x_K`, and so of settings of all others. *Two records:* at the optimum `h` has one value on a
set `A` and `e^eps` times it outside (3.3), so that `P` and `Q` are one of `A` and its complement
each. *Exchangeable records:* it is enough to look at `i = 1`. `p` and `q` don't change if unknown
records trade places, so that the average of `h` over all their orders has the same `p . h` and `q .
h`; it is log-Lipschitz too. With it in place of `h`, `P` and `Q` don't change either. ∎

*Why not the corners of a region of laws.* `p . h / q . h` is a quotient of products of linear
functions of `pi`, and not quasi-convex: two laws of independent records have the level `eps`, their
mixtures have up to `m eps`. What makes corners of a box suffice is that weights are free of each
other. So the family is of boxes only, and a box is larger than the region that it comes from.

*What it doesn't cover:* an attacker who is unsure of the law; clusters depend on each other for
him. The exact leakage of one given mechanism over the region: that may be largest at other corners.

*Checked:* against the level over all mechanisms of random laws in random boxes.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product

from bayesdp.fitting.numbers_of import Numbers

OUTWARD = 1e-9
"""By what factor weights are moved outward: for the rounding of a law that sums to 1."""

Cell = tuple[int, ...]


def largest_laws(lower: Numbers, upper: Numbers, *, exchangeable: bool) -> Iterator[Numbers]:
    """Laws of which one has the largest level of all between these bounds on cells.

    `lower` and `upper` have an axis for each record, two or more, all of one size. `exchangeable`
    says that they don't change where axes are put in another order, and that the laws don't.
    """
    records, states = lower.ndim, lower.shape[0]
    low, high = lower * (1.0 - OUTWARD), upper * (1.0 + OUTWARD)
    kinds = _kinds(states, records - 1, exchangeable)
    yielded: set[bytes] = set()
    for record in range(1 if exchangeable else records):
        for value, other in combinations(range(states), 2):
            for above, below in _sets(len(kinds), complements=records == 2):
                weights = low.copy()
                for at, kinds_here in ((value, above), (other, below)):
                    for kind in kinds_here:
                        for setting in kinds[kind]:
                            cell = (*setting[:record], at, *setting[record:])
                            weights[cell] = high[cell]
                if weights.any() and weights.tobytes() not in yielded:
                    yielded.add(weights.tobytes())
                    yield weights / weights.sum()


def number_of_laws(states: int, records: int, *, exchangeable: bool) -> int:
    """The most laws that `largest_laws` has for so many `records` of so many `states`.

    `exchangeable` as there.
    """
    settings = len(_kinds(states, records - 1, exchangeable))
    pairs: int = 2**settings - 2 if records == 2 else 3**settings - 2 * 2**settings + 1
    return (1 if exchangeable else records) * (states * (states - 1) // 2) * pairs


def _kinds(states: int, others: int, exchangeable: bool) -> list[list[Cell]]:
    """Settings of the other records; together those that are one another in another order."""
    kinds: dict[Cell, list[Cell]] = {}
    for setting in product(range(states), repeat=others):
        key = tuple(sorted(setting)) if exchangeable else setting
        kinds.setdefault(key, []).append(setting)
    return list(kinds.values())


def _sets(count: int, *, complements: bool) -> Iterator[tuple[list[int], list[int]]]:
    """Pairs of disjoint sets of so many things, neither empty; `complements`: that leave none."""
    for marks in product((1, 2) if complements else (0, 1, 2), repeat=count):
        above = [i for i, mark in enumerate(marks) if mark == 1]
        below = [i for i, mark in enumerate(marks) if mark == 2]
        if above and below:
            yield above, below
