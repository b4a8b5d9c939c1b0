"""What a ledger says: everything that is read from it, and nothing that is written.

`Ledger` adds what writes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Unpack

from bayesdp.accounting.accounts.account import Preview, check_columns, check_spends, declared
from bayesdp.accounting.accounts.analysts import checked_analyst
from bayesdp.accounting.accounts.limits import Limits
from bayesdp.accounting.costs.deltas import UnreadDeltaError, within_deltas
from bayesdp.accounting.costs.readings import LevelFunction, Reading
from bayesdp.accounting.costs.spend import Spend
from bayesdp.accounting.log.against import certificate_faults, missing_words
from bayesdp.accounting.log.chosen import EntryFilter, chosen
from bayesdp.accounting.log.contents import Book, DatasetRecord, DebitRecord, decoded
from bayesdp.accounting.log.entries import Head, LedgerFault, UndecodedError
from bayesdp.accounting.log.listing import dataset_listed, release_in_full
from bayesdp.accounting.log.schema import Log
from bayesdp.accounting.log.shown import spent_html
from bayesdp.accounting.log.trail import trail_of
from bayesdp.accounting.sharing.people import admitted, check_spoken, of_dataset
from bayesdp.accounting.sharing.shares import stopped
from bayesdp.accounting.sharing.verifying import content_faults
from bayesdp.accounting.stores.store import store_of
from bayesdp.accounting.stores.verified import book_of
from bayesdp.errors import LedgerError


class LedgerReader:
    """What is read from a ledger; its arguments and errors are those of `Ledger`.

    `url` is `sqlite:///PATH` or a path, or `postgresql://USER@HOST/DATABASE?schema=NAME`, whose
    password comes from the environment; other schemes raise `UnsupportedError`. `level` computes
    the level of a reading over a list of spends. `clock` tells the time of an entry (now), and
    `busy_seconds` is how long to wait for another process that holds the file.

    Every method raises `LedgerError` for a file that can't be used: missing folder, read-only,
    locked, damaged, no ledger, or of another version.
    """

    def __init__(
        self,
        url: str | os.PathLike[str],
        *,
        level: LevelFunction,
        clock: Callable[[], datetime] | None = None,
        busy_seconds: float = 30.0,
    ) -> None:
        self._clock = clock
        self._store = store_of(url, busy_seconds=busy_seconds, now=self._now)
        self._limits = Limits(within_deltas(level))

    @property
    def path(self) -> Path | None:
        """The ledger's file, which need not exist yet; `None` on a server."""
        return self._store.path

    @property
    def files(self) -> tuple[Path, ...]:
        """The ledger's files, which nothing else may be written to; none on a server."""
        return self._store.files

    @property
    def place(self) -> str:
        """Where the ledger is, for people: the whole path of its file, or a URL without secrets."""
        return self._store.place

    def exists(self) -> bool:
        """Whether the ledger is there: the first release makes it.

        Raises `LedgerError` for a server that doesn't answer.
        """
        path = self._store.path
        return self._store.exists() if path is None else path.exists()

    def trail(self, **only: Unpack[EntryFilter]) -> list[dict[str, Any]]:
        """Every entry in one line of plain data, in their order: who did what when.

        As `trail_of` says; `only` chooses some of them, as in `show`.
        """
        with self._reading() as (log, book):
            return trail_of(log.entries, book, **only)

    def refusals(self, **only: Unpack[EntryFilter]) -> list[dict[str, Any]]:
        """Every such refusal, oldest first: `dataset`, `analyst`, `study`, `reason`, `time`.

        With `dp_epsilon` and `dp_rho`, the cost that the release would have had; `None` where that
        is not known. `only` chooses some of them, as in `show`.
        """
        if only:
            return self.entries(**only)[1]
        with self._reading() as (_, book):
            return book.refusals()

    def release(self, release_id: str) -> dict[str, Any]:
        """One release as in `show`, with its `dataset`, `unit` and `request` too.

        `stored` is the number of its result's entry, `None` without one.

        Raises `LedgerError` for a release that isn't in the ledger.
        """
        with self._reading() as (log, book):
            debit = debit_of(book, release_id)
            return release_in_full(log, book.datasets[debit.entry.dataset], debit)

    def releases(self, dataset: str) -> list[dict[str, Any]]:
        """Every release of a data set as in `release`, oldest first; empty for an unknown one."""
        with self._reading() as (log, book):
            record = book.datasets.get(dataset)
            debits = [] if record is None else record.debits
            return [release_in_full(log, record, debit) for debit in debits if record is not None]

    def head(self) -> Head:
        """The number and the hash of the last entry: they stand for everything before it too."""
        with self._store.reading() as log:
            return Head(log.head.sequence, log.head.hash)

    def debited(self, release_id: str) -> Head:
        """The number and the hash of a release's debit, which its certificate carries.

        Raises `LedgerError` for a release that isn't in the ledger.
        """
        with self._reading() as (_, book):
            entry = debit_of(book, release_id).entry
            return Head(entry.sequence, entry.hash)

    def faults(self, against: Mapping[str, Mapping[str, Any]] | None = None) -> list[LedgerFault]:
        """What is wrong with the ledger, and where; empty for one as it was written.

        Looked at are the tables and what is beside them, the chain of all entries, the texts of
        results, and whether entries go together and every reading holds. `against` are certificates
        of its releases as plain data, by names for people: what they know and the ledger doesn't is
        a fault too. Raises `LedgerError` for a ledger that can't be read at all, or is of another
        version.
        """
        faults = self._store.faults()
        if faults:
            return faults
        with self._store.reading(whole=True) as log:
            faults = list(content_faults(log, self._limits))
        if not faults and against:
            with self._reading() as (log, book):
                faults = list(certificate_faults(log, book, against))
        return faults

    def uncounted(self, certificates: Mapping[str, Mapping[str, Any]]) -> list[str]:
        """The names of those certificates (plain data) whose debits this ledger doesn't have.

        All of them where there is no ledger yet.
        """
        if not self.exists():
            return list(certificates)
        with self._reading() as (log, book):
            return [
                name
                for name, document in certificates.items()
                if missing_words(log, book, document)
            ]

    def __repr__(self) -> str:
        return f"Ledger({self._store.place!r})"

    def _repr_html_(self) -> str:
        """What a notebook shows: by data set, what was spent and what is left of each reading."""
        return spent_html(self.show() if self.exists() else ())

    def spends(
        self, dataset: str, before: str | None = None, *, people: str | None = None
    ) -> list[Spend]:
        """Everything spent on a data set, oldest first; empty for an unknown data set.

        Where it shares people with others, that is everything spent on all of these; `people` are
        those of a data set that is not in the ledger yet. With `before`, only what was spent before
        that release, which must be in the ledger, else `LedgerError` is raised.
        """
        with self._reading() as (log, book):
            if before is not None:
                debit = debit_of(book, before)
                # As it was then: other data sets may have come to the same people since.
                book = Book(log.entries[: debit.entry.sequence - 1])
            return list(book.account(dataset, people=people).spends)

    def alike(self, dataset: str, columns: Mapping[str, bool]) -> list[dict[str, Any]]:
        """Other data sets with these very columns (private or not) as plain data.

        They are in the ledger, beside `dataset`, which need not be. Each has its name, its
        `people`, the `studies` that released from it, and `n`, the number of records that its last
        certificate has, or `None`.
        """
        with self._book_and_log() as (log, book):
            return [
                {
                    "dataset": name,
                    "people": record.people,
                    "studies": sorted({str(debit.said["study"]) for debit in record.debits}),
                    "n": _records(log, record),
                }
                for name, record in book.datasets.items()
                if name != dataset and record.columns == columns
            ]

    def show(self, **only: Unpack[EntryFilter]) -> list[dict[str, Any]]:
        """Every data set as plain data, in the order of their names.

        `only` chooses a `dataset`, or the releases and refused attempts of an `analyst`, or those
        `since` and `until` a time: a date (that whole day) or a time, as a text such as
        `"2026-11-01"` or as Python has it, in UTC where it has no offset. What is spent and left
        counts all releases even so. Raises `InputError` for a name that is not in the ledger, and
        for a time that is none.

        `people` are those whom it shares with other data sets, or `None`: what is spent, counted
        and left is then of all of these. `spent` is the sum of pure DP costs, `spent_rho` that of
        zCDP costs and `spent_delta` that of the deltas that mechanisms have of their own, rounded
        up; `counted` says in words how many releases they are of, and since when. A
        reading has its `level` now, its `total` and what is `left` (rounded down). A release is
        `debited` until its result is stored, then `released`; `sequence` and `head` are the number
        and the hash of its debit's entry. `analysts` are as in `by_analyst`.
        """
        return self.entries(**only)[0]

    def preview(
        self,
        dataset: str,
        unit: str,
        reading: Reading,
        spends: Sequence[Spend],
        *,
        private: Sequence[str] = (),
        public: Sequence[str] = (),
        analyst: str | None = None,
    ) -> Preview:
        """What `ensure` and `debit` would do, without writing; the ledger needn't exist yet.

        Raises the `LedgerError` that they would raise; a broken budget is stated in the result.
        """
        check_spends(dataset, unit, spends)
        people, columns = spends[0].people, declared(private, public)
        reading = of_dataset(reading, dataset, people)
        with self._book_and_log() as (_, book):
            account, known, _ = admitted(
                book, dataset, unit, reading, columns, people, only_if_first=True
            )
            if not known:
                account = account.with_reading(dataset, reading)
            check_columns(dataset, account, spends)
            check_spoken(account, spends)
            readings = [
                self._limits.previewed(registered, account.spends, spends)
                for registered in account.readings
            ]
            counted_words = account.counted_words()
            try:
                stop = stopped(book, dataset, account, self._limits, self._who(analyst), spends)
                broken = [] if stop is not None else self._limits.broken(account, spends)
            except UnreadDeltaError as error:  # smaller costs may have the same deltas
                return Preview(readings, str(error), 0.0, counted_words)
        if stop is not None:
            return Preview(readings, stop.words, 0.0, counted_words, stop.reason)
        if not broken:
            return Preview(readings, None, counted=counted_words)
        fits = self._limits.fits(account, spends)
        refusal = self._limits.refusal(dataset, account, spends, broken, fits)
        return Preview(readings, refusal, fits, counted_words)

    def entries(
        self, **only: Unpack[EntryFilter]
    ) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """The data sets as in `show` and the refused attempts, as they were at one moment."""
        with self._reading() as (log, book):
            refusals = book.refusals()
            listed = [
                dataset_listed(
                    log,
                    book.datasets[name],
                    book.account(name),
                    self._limits,
                    [refusal for refusal in refusals if refusal["dataset"] == name],
                )
                for name in book.names()
            ]
        return chosen(listed, refusals, **only)

    @contextmanager
    def _reading(self, *, whole: bool = False) -> Iterator[tuple[Log, Book]]:
        """A transaction that reads: the entries, and what they say; `whole` as in `Store`."""
        with self._store.reading(whole=whole) as log, self.decoding():
            yield log, book_of(log)

    @contextmanager
    def _book_and_log(self) -> Iterator[tuple[Log | None, Book]]:
        """What the ledger says, with the texts of results: nothing, before there is one."""
        if not self._store.exists():
            yield None, Book(())
            return
        with self._reading() as (log, book):
            yield log, book

    @contextmanager
    def decoding(self) -> Iterator[None]:
        """Answers entries that no ledger has written as `LedgerError`."""
        try:
            yield
        except UndecodedError as error:
            raise self._store.damaged(str(error)) from error

    def _who(self, analyst: str | None) -> str:
        """Whose entry it is: the name that is given, else the login on the server or here."""
        return checked_analyst(self._store.user if analyst is None else analyst)

    def _now(self) -> str:
        now = self._clock() if self._clock is not None else datetime.now(UTC)
        return now.astimezone(UTC).isoformat(timespec="microseconds")


def _records(log: Log | None, record: DatasetRecord) -> int | None:
    """The number of records that the last certificate of a data set has; `None` without one."""
    for debit in reversed(record.debits):
        if log is None or debit.result is None:
            continue
        certificate = decoded(json.loads, log.result(debit.result)).get("certificate")
        n = certificate.get("n") if isinstance(certificate, Mapping) else None
        return n if isinstance(n, int) else None
    return None


def debit_of(book: Book, release_id: str) -> DebitRecord:
    """A release. Raises `LedgerError` for a release that isn't in the ledger."""
    if release_id not in book.debits:
        raise LedgerError("release", release_id, expected="the id of a release in this ledger")
    return book.debits[release_id]
