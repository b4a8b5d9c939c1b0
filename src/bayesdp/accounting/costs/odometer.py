"""An odometer and a filter: what has been spent so far, in memory (theory 2.2, 2.6).

Both are the ledger's arithmetic without a database, for interactive use: steps may be chosen one at
a time, with all earlier answers in view, on any public block. Keep a `Ledger` where a crash or
another process must not forget what was spent.

*Odometer.* After every step the level of the answers so far holds, however the steps were chosen:
for the answers that were in fact given, the density changes by at most the sum of the costs that
were in fact spent on a record, so 2.1 applies to them. This is so for pure costs. With a delta the
level of adaptively chosen costs is safe only up to a total that was fixed before (a reading has
one), so it is stated for a reading, and a step beyond its total is marked.

*Filter.* A step is refused if some reading would then exceed its total, and for no other reason. A
refused step spends nothing, and smaller ones may follow.

### 2.7 What one record pays: compositions of every kind (new)

**Statement.** Let mechanisms run one after the other, each, with its costs, chosen in view of
earlier answers. Say that a mechanism costs a record `eps` if replacing that record changes its
density by a factor of at most `e^eps` whatever was answered before, and nothing if it doesn't read
the record. Let `s_i` be the sum of what the mechanisms cost record `i`. Then

1. for the answers that are in fact given, and adjacent `x, x'` that differ in record `i`, the
   density changes by at most `e^(s_i)`: everything together is `max_i s_i`-DP, where the maximum is
   over records *and* answers, and 2.1 converts it once;
2. an *odometer* may tell the level of `max_i s_i` after every step: it bounds what the answers so
   far tell, however the steps were chosen;
3. a *filter* that refuses the step with which that level would exceed `T`, and nothing else, is
   `T`-BDP.

**Proof.** The density of all answers is the product of the conditional ones. Those of mechanisms
that don't read record `i` are equal for `x` and `x'`, the others change by their `e^eps`. So for a
fixed sequence `y` of answers `g(x) = P[y | x]` is log-Lipschitz with `eps = max_i s_i(y)`, which is
all that 2.1 asks; this is 2. In 3 every sequence that the filter lets happen has a level of at most
`T`, and the leakage is a supremum over them. ∎

With zCDP costs the same sums are taken, for each measure apart: the Rényi divergence of a step that
doesn't read a record is 0. What may then be chosen after looking says 2.6.

**From the rules of 2.3.** Block numbers and public columns are *axes*: each record is in one cell
of each axis. bayesdp keeps, for each axis, what is spent on each cell, and beside it what is spent
on all records; a record pays at most the second plus, for each axis, its dearest cell. That is
`max` over blocks within an axis, also over several rounds on the same blocks, and a sum over axes
(somebody may lie in the dearest cell of each). Private blocks (2.3 c) cost `max(max_j r_j, the two
largest a_j)` whatever the record, and adding a record to a composition of private blocks inside a
block costs its largest `a_j`, because it enters one of them. *Kinds:* where a Gaussian theorem
counts Lipschitz spends apart, the maximum is taken for each kind: records that move with the
attacked one may lie in other blocks and pay for another kind than it does. Under DP, and for
theorems that look at sums alone, kinds don't matter.

**Public columns of a table.** A spend has a block if its query's `where` excludes some declared
states of a public column, so that no row outside of the block changes the answer. This divides
records only where a record is one row: rows of one record may lie in several cells. It is used for
columns with declared states, nothing imputed or clipped, since a table with any other value is
refused; texts that some data engine takes for equal (in case, accents or spaces) are one cell, and
a column whose values are numbers in one study and texts in another, or times in one and other texts
in another, divides nothing. A data set's column is public in all of its studies or in none. The
certificate repeats what nobody can check: that a record has the same value of the column in every
release. The kernel derives the block of each of the release's own queries again: it goes through
the states and keeps those for which the condition isn't false whatever the other columns hold.

*Checked:* 10,000 random compositions of all of these, up to three levels deep, over independent,
finite, cluster, chain and graph populations, with mechanisms that are as bad as their costs allow
and depend on earlier answers: the level is never below the exact leakage of the process, and is
attained in places; the odometer on random strategies that choose costs and blocks after looking
([tests](../tests/accounting/test_random_compositions.py)).
"""

from __future__ import annotations

from collections.abc import Sequence

from bayesdp.accounting.costs.composition import UnspokenColumnError, level
from bayesdp.accounting.costs.deltas import unread_deltas
from bayesdp.accounting.costs.readings import Reading
from bayesdp.accounting.costs.rounded import keeps, left, left_words, up_words
from bayesdp.accounting.costs.spend import Spend, total_cost
from bayesdp.errors import BudgetExceededError, InputError
from bayesdp.notions import Cost
from bayesdp.numbers import UpperBound
from bayesdp.theorems import NO_PURE_LEVEL


class Odometer:
    """The running level of one data set, under any reading, at any time.

    `dataset` and `unit` are as in a spend. Nothing is refused but spends of another data set or
    protected unit (`InputError`).

    >>> from bayesdp.accounting import Reading, Spend
    >>> odometer = Odometer("trial")
    >>> for query in ("mean", "count"):
    ...     odometer.add(Spend("trial", "row", query, "any", 0.25))
    >>> round(odometer.level(Reading("bdp", 9.0, {"model": "clusters", "size": 3})), 9)
    1.5
    """

    def __init__(self, dataset: str, unit: str = "row") -> None:
        self.dataset = dataset
        self.unit = unit
        self._spends: tuple[Spend, ...] = ()

    @property
    def spends(self) -> tuple[Spend, ...]:
        """Everything spent so far, oldest first."""
        return self._spends

    @property
    def cost(self) -> Cost:
        """The most that one record has paid so far, under DP."""
        return total_cost(self._spends)

    def add(self, *spends: Spend) -> None:
        """Take one step: all of its spends, or none where one of them is refused (`InputError`)."""
        self._spends = self._with(spends)

    def level(self, reading: Reading) -> UpperBound:
        """The level of everything so far, in nats of the reading's notion, rounded up."""
        return level(reading, self._spends)

    def within(self, reading: Reading) -> bool:
        """Whether the level is within the reading's total; beyond it a delta promises nothing.

        Gaussian spends have no pure level: they are within no reading without a delta, and spends
        with a `dp_delta` only within one that sets aside as much for them (theory 2.6b). Nor are
        spends within a reading that says nothing about a column that they read.
        """
        return _within(reading, self._spends)

    def _with(self, spends: Sequence[Spend]) -> tuple[Spend, ...]:
        for spend in spends:
            ours = {"dataset": self.dataset, "unit": self.unit}
            for name, own in ours.items():
                if getattr(spend, name) != own:
                    raise InputError(
                        f"spend.{name}",
                        getattr(spend, name),
                        expected=f"'{own}': costs of different ones don't add up",
                    )
        return (*self._spends, *spends)


class Filter(Odometer):
    """An odometer that refuses the step after which a reading would exceed its total.

    Each reading holds for everything that the filter lets through, however the steps were chosen.
    `dataset` and `unit` are as in a spend. Raises `InputError` without a reading.
    """

    def __init__(self, dataset: str, *readings: Reading, unit: str = "row") -> None:
        super().__init__(dataset, unit)
        if not readings:
            raise InputError("readings", [], expected="at least one reading, with its total")
        self.readings = readings

    def allows(self, *spends: Spend) -> bool:
        """Whether this step may be taken."""
        return not self._broken(self._with(spends))

    def add(self, *spends: Spend) -> None:
        """Take one step, or raise `BudgetExceededError` and keep everything as it was."""
        together = self._with(spends)
        broken = self._broken(together)
        if broken:
            reasons = "; ".join(self._level_words(reading, together) for reading in broken)
            raise BudgetExceededError(f"This step is refused, and nothing is spent. {reasons}.")
        self._spends = together

    def _level_words(self, reading: Reading, together: Sequence[Spend]) -> str:
        if reading.delta == 0.0 and any(spend.is_zcdp for spend in together):
            return f"{reading.words()}: {NO_PURE_LEVEL.rstrip('.')}"
        unread = unread_deltas(reading, total_cost(together))
        if unread is not None:
            return unread.rstrip(".")
        now = self.level(reading)
        return (
            f"{reading.words()}: now at {up_words(now)}, it would rise to "
            f"{up_words(level(reading, together))}, and "
            f"{left_words(reading.total, left(reading.total, now))} is left"
        )

    def _broken(self, spends: Sequence[Spend]) -> list[Reading]:
        return [reading for reading in self.readings if not _within(reading, spends)]


def _within(reading: Reading, spends: Sequence[Spend]) -> bool:
    """Whether the reading's total is kept; never where the spends have no level under it."""
    if reading.delta == 0.0 and any(spend.is_zcdp for spend in spends):
        return False
    if unread_deltas(reading, total_cost(spends)) is not None:
        return False
    # "<=", and no ">" anywhere: a level that is not a number must not pass.
    try:
        return keeps(level(reading, spends), reading.total, reading.delta)
    except UnspokenColumnError:  # `add` lets it through, for it says what to do
        return False
