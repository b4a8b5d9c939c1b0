"""Finite laws of few records: the worst case over all mechanisms, by linear programming.

### 3.3 A finite law of few cells (new)

**Statement** (theorem `finite-law`). Let the joint law have finitely many cells. For an adversary
`(i, K)` and values `x_K`, `x_i`, `x_i'` of positive probability let `p` and `q` be the laws of the
unknown records `U` given `x_i, x_K` and given `x_i', x_K`. Then

```text
L(eps) = eps + max over (i, K), x_K, x_i, x_i' of  ln sup over h of  (p . h) / (q . h),
h > 0 on the values of U,   h(v) <= e^eps h(w) for v, w that differ in one record.
```

Exact: normalise `q . h = 1`, and each supremum is a linear program.

**Proof.** By 2.1, `L(eps)` is the largest ratio of `E[g | x_i, x_K]` and `E[g | x_i', x_K]` over
log-Lipschitz `g` on all databases. Only databases with these values of `K` and with `x_i` or `x_i'`
enter. A log-Lipschitz function on those extends to all: replace values of record `i` other than
`x_i` by `x_i'`, and values of `K` by `x_K`. This acts record by record, so adjacent databases stay
adjacent or become equal. Write `h = g(x_i', .)`. Then `g(x_i, .) <= e^eps h`; and `g(x_i, .) =
e^eps h` is allowed. Databases of probability 0 stay in the domain of `h`: the mechanism is private
there too. ∎

**The optimum.** The feasible `h` form a compact polytope. At a vertex the tight constraints connect
all cells, or `h` could be scaled on a part of them. So `h = C e^(eps k)`, where the integer `k`
changes by at most 1 between neighbours: such mechanisms attain `L`. For few cells all such `k` are
tried (990 for four binary records). For one unknown record they are thresholds of `p / q`.

**What proves a level.** For flows `y(v, w) >= 0` along neighbours, any `lam`, and every feasible
`h`,

```text
p . h / q . h  <=  lam + sum over v of max(0, p(v) - lam q(v) - out(v) + e^eps in(v)) / Q(v),
Q(v) = sum over w of q(w) e^(-eps d(v, w)),   d the number of records that differ.
```

*Proof:* add `y(v, w) (e^eps h(w) - h(v)) >= 0` over all pairs to `p . h - lam q . h`. What is left
over at `v` is multiplied by `h(v)`, and `q . h >= Q(v) h(v)`, because `h(w) >= e^(-eps d(v, w))
h(v)`. ∎ So nobody has to trust a solver: HiGHS only suggests `y` and `lam`.

**Revealing one record.** Let `C[i, K]` bound these ratios, for each `x_K, x_i, x_i'`. For an
unknown record `k`,

```text
ratio of (i, K)  <=  sup over B of  (sum_(x_k) p(x_k) M(x_k) B(x_k)) / (sum_(x_k) q(x_k) B(x_k)),
M = C[i, K + k],   B(v) <= e^eps C[k, K + i] B(w)   (given x_i'),
```

where `p`, `q` are the laws of `x_k` under the two values of record `i`. *Proof:* put `B(x_k) =
E[h | x_i', x_k]`. Given `x_k`, the mean of `h` under `x_i` is at most `M` times that under `x_i'`;
and from one value of `x_k` to another `B` changes by the record's own `e^eps` and by what it tells
about the rest. ∎ Computed from the best informed adversaries downwards, this bound leaves only a
handful of the ten thousand programs of eight binary records to be solved, and a proof of the level
takes a few kilobytes (`dual_certificates`).

**Limits.** Up to 2^8 cells for class `any`, if a verdict about the level takes seconds (seven
binary records without zeros); 2^12 for `uninformed`. Beyond, the theorem is refused.
It also serves networks, trees, graphs and chains of that size; parts that are mutually independent
count one by one. Then the table shows the exact level beside the bounds that work for any size.

The programs are in `leakage/linear_program.py`, the revealed records in `leakage/reveal.py`.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from bayesdp.arrays import Floats
from bayesdp.errors import UnsupportedError
from bayesdp.leakage.channel import record_namer
from bayesdp.leakage.deadline import NEVER, Deadline
from bayesdp.leakage.stationary import elimination_error
from bayesdp.leakage.worst_case import (
    GIVEN_ERROR,
    Attack,
    FiniteWorstCase,
    WorstCase,
    expected_seconds,
)
from bayesdp.notions import Adversary, Bound, Cost
from bayesdp.numbers import UNIT, UpperBound
from bayesdp.populations import Finite, Graph, MarkovChain, Network, Population, Tree
from bayesdp.populations.joint import NoJointError, parts_of
from bayesdp.theorems.base import Question, Theorem, too_slow

MOST_CELLS: dict[Adversary, int] = {"any": 2**8, "uninformed": 2**12, "informed": 2**12}
"""The largest joint law, in cells, of records that depend on each other."""

MOST_WORK = 120_000
"""What a proof against whatever is known may ask for, in cells of all questions together.

The kernel refuses more, so that a verdict takes a few seconds: a level beyond could be shown and
never certified.
"""

MOST_NATS = 500.0
"""The largest cost times number of records: `e` to it must be a double."""


class FiniteLaw(Theorem[Finite | Network | MarkovChain | Tree | Graph]):
    """`L(eps)` itself, for laws of few cells (theory 3.3)."""

    name = "finite-law"
    statement = "a finite law of few cells: the worst case over all mechanisms, as linear programs"
    source = "bayesdp; theory 3.3"
    uses = "the whole joint law"
    ignores = "nothing"
    models = (Finite, Network, MarkovChain, Tree, Graph)
    treats_informed = True

    def applies(self, population: Population) -> bool:
        """Laws given cell by cell and networks; other discrete models where they are small."""
        small = isinstance(population, Finite | Network)
        return small or isinstance(_parts(population, "uninformed"), tuple)

    def failed_hypothesis(
        self, population: Population, question: Question, cost: Cost
    ) -> str | None:
        """Needs a law of few cells, and enough time."""
        adversary = question.adversary
        parts = _parts(population, adversary)
        if isinstance(parts, str):
            return f"{parts}, is too large to search all mechanisms against '{adversary}'"
        largest = max(joint.ndim for _, joint in parts)
        if cost.dp_epsilon * largest > MOST_NATS:
            return f"{largest} records at this cost are beyond double precision"
        if adversary == "any" and sum(proof_work(joint) for _, joint in parts) > MOST_WORK:
            return "a verdict about its level, whatever is known, takes longer than a verdict may"
        seconds = self.seconds_for(population, question)
        if seconds > question.seconds:
            return too_slow(seconds, question)
        return None

    def seconds_for(self, population: Population, question: Question) -> float:
        """An estimate by the number and size of the programs; 0 where the law is refused anyway."""
        parts = _parts(population, question.adversary)
        if isinstance(parts, str):
            return 0.0
        return sum(expected_seconds(joint.shape, question.adversary) for _, joint in parts)

    def level(self, population: Population, question: Question, cost: Cost) -> Bound:
        """The level; as evidence the attack that attains it up to rounding, if there is any."""
        adversary, dp_epsilon, deadline = question.adversary, cost.dp_epsilon, question.deadline
        levels = [
            (records, _level(population, position, adversary, dp_epsilon, deadline))
            for position, records in enumerate(_records(population, adversary))
        ]
        records, worst = max(levels, key=lambda level: level[1].epsilon)
        attained = max(level.attained for _, level in levels)
        evidence: dict[str, Any] = {}
        if worst.attack is not None:
            attack = _numbered(worst.attack, records)
            evidence["attack"] = attack.to_dict()
            evidence["note"] = _words(population, attack)
        return self._bound(worst.epsilon, attained, **evidence)


def dual_certificates(
    population: Population, dp_epsilon: float, adversary: Adversary = "any"
) -> list[dict[str, Any]]:
    """A proof of the level that `finite-law` reports, for somebody who trusts no solver.

    What it proves is at most 1e-10 of the ratio above that level, as near as the solver comes.

    One entry for each attack that cheap bounds don't dismiss: `i`, `K`, `x_K`, `x_i`, `x_i'`,
    `multiplier` (`lam`) and `flows`, a list of `[v, w, y]` with `y > 0`. Cells are numbered in
    row-major order over the unknown records of the part that `i` belongs to, in rising order.
    With `c = e^eps` the entry proves that the ratio is at most

        lam + sum over v of max(0, p(v) - lam q(v) - out(v) + c in(v)) / Q(v),
        Q(v) = sum over w of q(w) c^(-d(v, w)),  d the number of records that differ.

    All other attacks are below the level by the least of two bounds, which need no evidence. (a) A
    threshold: with `C = c^u`, u the number of unknown records, the ratio is at most the largest
    `(1 + (C - 1) p(A)) / (1 + (C - 1) q(A))` over sets `A` of cells with the largest `p / q`; for
    one unknown record this is the ratio itself. (b) Against `any`: revealing one unknown record,
    see `leakage/reveal.py`, from few unknown records to many. Ratios have 1e-9 to spare there.
    A law of 2^8 cells takes some kilobytes. Raises `UnsupportedError` for laws that are too large.
    """
    parts = _parts(population, adversary)
    if isinstance(parts, str):
        raise UnsupportedError("population", population.model, expected="a small law", remedy=parts)
    claimed = max(
        _level(population, position, adversary, dp_epsilon, NEVER).epsilon
        for position in range(len(parts))
    )
    claimed = max(claimed, UpperBound(dp_epsilon))
    proofs = []
    for position, (records, _) in enumerate(parts):
        engine = _engine(population, position, adversary)
        for proof in engine.certificates(dp_epsilon, claimed):
            proof["i"] = records[proof["i"]]
            proof["K"] = [records[j] for j in proof["K"]]
            proofs.append(proof)
    return proofs


def proof_work(joint: Floats) -> int:
    """Cells of all questions that a proof about a joint law asks, for all that may be known.

    `joint` has an axis for each record. For each set of known records: their possible values, times
    the cells of the others, times the pairs of values that are asked about.
    """
    sizes = joint.shape
    possible, work = int(np.count_nonzero(joint)), 0
    for known in product((False, True), repeat=len(sizes)):
        values = math.prod(size for size, is_known in zip(sizes, known, strict=True) if is_known)
        others = [size for size, is_known in zip(sizes, known, strict=True) if not is_known]
        work += min(values, possible) * math.prod(others) * sum(size // 2 for size in others)
    return work


def _parts(population: Population, adversary: Adversary) -> Any:
    """Independent parts with their laws, or the reason why there are none."""
    try:
        return parts_of(population, MOST_CELLS[adversary])
    except NoJointError as error:
        return str(error)


def _records(population: Population, adversary: Adversary) -> list[tuple[int, ...]]:
    return [records for records, _ in _parts(population, adversary)]


@lru_cache(maxsize=32)
def _engine(population: Population, position: int, adversary: Adversary) -> FiniteWorstCase:
    joint = parts_of(population, MOST_CELLS[adversary])[position][1]
    return FiniteWorstCase(joint, adversary, _law_error(population))


def _law_error(population: Population) -> float:
    """The relative error of the law's cells: from products, and from a chain's start."""
    if isinstance(population, Finite):
        return GIVEN_ERROR
    if isinstance(population, MarkovChain):
        stationary = population.initial == "stationary"
        start = elimination_error(population.states**population.order) if stationary else 4 * UNIT
        return start + 8 * population.length * UNIT
    assert isinstance(population, Graph | Network | Tree)
    factors = sum(len(group.members) for group in population.factor_graph.groups)
    return 8 * (factors + 1) * UNIT


@lru_cache(maxsize=4096)
def _level(
    population: Population,
    position: int,
    adversary: Adversary,
    dp_epsilon: float,
    deadline: Deadline = NEVER,
) -> WorstCase:
    return _engine(population, position, adversary).level(dp_epsilon, deadline)


def _numbered(attack: Attack, records: tuple[int, ...]) -> Attack:
    """The attack with the population's record numbers."""
    return Attack(
        records[attack.record],
        tuple(records[j] for j in attack.known),
        attack.known_values,
        attack.value,
        attack.other,
    )


def _words(population: Population, attack: Attack) -> str:
    """The worst case in words: who attacks whom."""
    names = record_namer(population)
    known = ", ".join(names(j) for j in attack.known)
    knows = known or "no other record"
    return f"reached by somebody who attacks {names(attack.record)} and knows {knows}"
