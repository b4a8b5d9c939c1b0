"""What the readings of a data set allow: their levels, what breaks, what would fit, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bayesdp.accounting.accounts.account import Account
from bayesdp.accounting.costs.deltas import UnreadDeltaError
from bayesdp.accounting.costs.readings import LevelFunction, Reading
from bayesdp.accounting.costs.rounded import STEPS, keeps, left, left_words, scaled, spent, up_words
from bayesdp.accounting.costs.spend import Spend, total_cost
from bayesdp.statements.base import exact_text


@dataclass(frozen=True)
class Limits:
    """The limits of data sets, by a function that computes the `level` of a reading."""

    level: LevelFunction

    def broken(self, account: Account, spends: Sequence[Spend]) -> list[Reading]:
        """The readings of the `account` that would not hold with these `spends` too."""
        together = [*account.spends, *spends]
        # A level that is not a number must not pass, and doesn't keep to anything.
        return [
            reading
            for reading in account.readings
            if not keeps(self.level(reading, together), reading.total, reading.delta)
        ]

    def refusal(
        self,
        dataset: str,
        account: Account,
        spends: Sequence[Spend],
        broken: Sequence[Reading],
        fits: float,
    ) -> str:
        """Why `spends` are refused, in words.

        `broken` are the readings of the `dataset` that would not hold, `account` what it has spent,
        and `fits` as the method says it.
        """
        lines = []
        for reading in broken:
            now = self.level(reading, account.spends)
            after = self.level(reading, [*account.spends, *spends])
            lines.append(
                f"{reading.words()}: now at {up_words(now)}, it would rise to {up_words(after)}; "
                f"{left_words(reading.total, left(reading.total, now))} of "
                f"{exact_text(reading.total)} is left."
            )
        advice = (
            f"At {fits:.6g} times their costs the same queries would fit."
            if fits
            else "Nothing fits any more: not even a millionth of these costs."
        )
        return (
            f"The budget of {account.whose(dataset)} doesn't allow this release "
            f"(DP cost {spent(total_cost(spends))}). It counts all releases of "
            f"{account.of_all(dataset)}: "
            f"{account.counted_words()}. "
            f"{' '.join(lines)} {advice}"
        )

    def fits(self, account: Account, spends: Sequence[Spend]) -> float:
        """The largest multiple of the costs that all readings allow, rounded down; 0 if none."""
        fits, breaks = 0, STEPS
        while breaks - fits > 1:
            middle = (fits + breaks) // 2
            if self.broken(account, [scaled(spend, middle) for spend in spends]):
                breaks = middle
            else:
                fits = middle
        return fits / STEPS

    def read(self, reading: Reading, spends: Sequence[Spend]) -> dict[str, Any]:
        """A reading as `Ledger.show` has it, over these spends."""
        level = self.level(reading, spends)
        return {
            **reading.to_dict(),
            "key": reading.key(),
            "words": reading.words(),
            "level": level,
            "left": left(reading.total, level),
        }

    def previewed(
        self, reading: Reading, before: Sequence[Spend], new: Sequence[Spend]
    ) -> dict[str, Any]:
        """A reading as a preview has it: over the spends `before`, and over the `new` ones too.

        Where it has no room for deltas of the new ones, there is no level afterwards: `None`.
        """
        try:
            after = self.level(reading, [*before, *new])
        except UnreadDeltaError:
            nothing = {"level_after": None, "left_after": None, "holds": False}
            return {**self.read(reading, before), **nothing}
        return {
            **self.read(reading, before),
            "level_after": after,
            "left_after": left(reading.total, after),
            "holds": keeps(after, reading.total, reading.delta),
        }
