"""What stops a release besides the budget: a frozen data set, and an analyst's share.

A share is a part of each reading's total, between 0 and 1, that an analyst's own releases may
reach. It is a rule among people who trust each other: an analyst's name is what the study says. It
promises nothing about records, for which the budget of all releases together stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from bayesdp.accounting.accounts.account import Account, to_the_second
from bayesdp.accounting.accounts.limits import Limits
from bayesdp.accounting.accounts.lookalikes import lookalike
from bayesdp.accounting.costs.rounded import keeps, up_words
from bayesdp.accounting.costs.spend import Spend
from bayesdp.accounting.log.contents import Book, DatasetRecord, RefusalReason
from bayesdp.errors import InputError, as_shown, finite_number
from bayesdp.numbers import float_below
from bayesdp.statements.base import exact_text


class Stop(NamedTuple):
    """That a release is refused: the reason as the ledger keeps it, and in words."""

    reason: RefusalReason
    words: str


def checked_share(share: object) -> float:
    """A share: a number from 0 to 1. Raises `InputError` for anything else."""
    expected = "a share of the budget: a number from 0 to 1, such as 0.25"
    number = finite_number("share", share, expected=expected, zero=True)
    if number > 1.0:
        raise InputError("share", share, expected=expected)
    return number


def stopped(
    book: Book,
    dataset: str,
    account: Account,
    limits: Limits,
    analyst: str,
    spends: Sequence[Spend],
) -> Stop | None:
    """What stops a release of an `analyst` with these `spends`; `None` if nothing does.

    `book` is the ledger and `account` what it has of the `dataset`, and `limits` computes levels.
    Where a data set has shares, an analyst without one has none. Data sets that share people
    share what is given of their budget too.
    """
    record = book.datasets.get(dataset)
    if record is not None and record.frozen is not None:
        return Stop("frozen", frozen_words(record))
    shares = account.shares
    if not shares:
        return None
    if analyst not in shares:
        named = ", ".join(f"'{as_shown(name)}'" for name in sorted(shares))
        like = lookalike(analyst, sorted(shares))
        twin = (
            ""
            if like is None
            else f" '{as_shown(like)}' looks like this name and is another: write it as the share "
            "has it."
        )
        have = "has one" if len(shares) == 1 else "have one"
        return Stop(
            "share",
            f"The budget of {account.whose(dataset)} is shared out, and the analyst "
            f"'{analyst}' has no share; {named} {have}.{twin} The curator gives one with "
            "`bayesdp ledger share`.",
        )
    share, own = shares[analyst], book.spends_of(dataset, analyst, account.people)
    for reading in account.readings:
        allowed = float_below(Fraction(share) * Fraction(reading.total))
        level = limits.level(reading, [*own, *spends])
        if not keeps(level, allowed, reading.delta):
            now = up_words(limits.level(reading, own))
            return Stop(
                "share",
                f"The analyst '{analyst}' may spend {exact_text(share)} of the budget of "
                f"{account.whose(dataset)}. {reading.words()}: the analyst's own releases are at "
                f"{now}, and would rise to {up_words(level)}. Spend less, or ask the curator for a "
                "larger share (`bayesdp ledger share`).",
            )
    return None


def frozen_words(record: DatasetRecord) -> str:
    """That a data set is frozen: since when, by whom and why."""
    assert record.frozen is not None
    freeze = record.frozen
    why = f" ({as_shown(freeze.reason)})" if freeze.reason else ""
    since = f"by {as_shown(freeze.by)} at {to_the_second(freeze.time)}{why}"
    return (
        f"The data set '{record.name}' was frozen {since}: nothing is released from it. The "
        "curator ends that with `bayesdp ledger thaw`."
    )
