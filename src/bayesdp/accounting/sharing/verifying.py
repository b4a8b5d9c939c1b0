"""What entries say, held against each other: `bayesdp ledger verify`, once the chain holds.

The chain shows that nothing was changed after it was written; this shows that what was written goes
together. Each debit must have kept every reading that was there, each result have its text.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import select

from bayesdp.accounting.accounts.account import column_faults
from bayesdp.accounting.accounts.limits import Limits
from bayesdp.accounting.costs.rounded import keeps, up_words
from bayesdp.accounting.log import schema
from bayesdp.accounting.log.contents import Book, decoded, result_of
from bayesdp.accounting.log.entries import LedgerFault, UndecodedError
from bayesdp.accounting.log.schema import Log
from bayesdp.accounting.sharing.people import check_reading, check_spoken
from bayesdp.errors import BayesdpError


def content_faults(log: Log, limits: Limits) -> Iterator[LedgerFault]:
    """Entries that don't go together, texts of results that are other ones, and broken readings.

    `limits` computes levels. What can't be decoded ends the search: the rest would make no sense.
    """
    try:
        book = Book(log.entries)
        for name in book.datasets:
            book.account(name)
        book.refusals()
    except UndecodedError as error:
        yield LedgerFault("ledger", str(error))
        return
    yield from _result_faults(log, book)
    reported = set[tuple[str, str]]()
    for record in book.datasets.values():
        account = book.account(record.name)
        for name, words in column_faults(account):
            place = account.whose(record.name).removeprefix("the ")
            if (place, name) not in reported:  # those who share people share what is wrong
                reported.add((place, name))
                yield LedgerFault(place, words)
        try:
            for reading in account.readings if account.people is not None else ():
                check_reading(reading)
            check_spoken(account)
        except BayesdpError as error:
            yield LedgerFault(f"data set '{record.name}'", str(error))
        for reading in account.readings:
            try:
                level = limits.level(reading, account.spends)
            except BayesdpError as error:
                yield LedgerFault(f"data set '{record.name}'", f"{reading.words()}: {error}")
                continue
            if not keeps(level, reading.total, reading.delta):
                words = f"the releases are at {up_words(level)} by the reading {reading.words()}"
                yield LedgerFault(f"data set '{record.name}'", words)


def _result_faults(log: Log, book: Book) -> Iterator[LedgerFault]:
    with_result = set()
    for debit in book.debits.values():
        if debit.result is None:
            continue
        with_result.add(debit.result.sequence)
        try:
            decoded(result_of, log.result(debit.result))
        except UndecodedError as error:
            yield LedgerFault(f"entry {debit.result.sequence}", _without_place(str(error)))
    if log.texts is not None:
        return
    for number in log.connection.scalars(select(schema.results.c.entry)):
        if number not in with_result:
            yield LedgerFault("table results", f"a result of entry {number}, which is about none")


def _without_place(words: str) -> str:
    return words.partition(": ")[2] or words
