"""The durable ledger: what was spent on each data set, and what it may still be spent on.

Differential privacy is spent once, whatever population a study declares, so the ledger keeps one
list of spends per data set. Each registered reading turns that list into a level and caps it; a
debit is written only if every reading still holds afterwards (theory 2.2).

The order that keeps the promise: `debit` is durable before noise is drawn, `store` is durable
before a result is shown. A crash in between loses budget, never privacy.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NewType

from sqlalchemy import Connection

from bayesdp.accounting.accounts.account import (
    NOTHING_SPENT,
    Account,
    check_columns,
    check_names,
    check_spends,
    check_unit,
    declared,
    new_columns,
)
from bayesdp.accounting.accounts.analysts import checked_analyst
from bayesdp.accounting.accounts.lookalikes import require_known_analyst
from bayesdp.accounting.canonical import plain_text
from bayesdp.accounting.costs.field_checks import check_text
from bayesdp.accounting.costs.readings import Reading
from bayesdp.accounting.costs.rounded import keeps, up_words
from bayesdp.accounting.costs.spend import Spend, total_cost
from bayesdp.accounting.log.contents import (
    Book,
    RefusalReason,
    columns_content,
    dataset_content,
    frozen_content,
    people_content,
    reading_content,
    refusal_content,
    release_content,
    share_content,
)
from bayesdp.accounting.log.entries import Head
from bayesdp.accounting.log.exchange import entries_of, lines_of, not_an_export
from bayesdp.accounting.log.listing import release_in_full
from bayesdp.accounting.log.schema import Log, insert
from bayesdp.accounting.reader import LedgerReader, debit_of
from bayesdp.accounting.sharing.people import (
    admitted,
    check_named,
    check_people_name,
    check_reading,
    check_spoken,
    of_dataset,
    require_new_people,
)
from bayesdp.accounting.sharing.shares import checked_share, frozen_words, stopped
from bayesdp.accounting.sharing.verifying import content_faults
from bayesdp.accounting.stores.verified import book_of
from bayesdp.errors import (
    BudgetExceededError,
    InputError,
    LedgerError,
    Refusal,
    require_shown,
    unknown_name,
)

ReleaseId = NewType("ReleaseId", str)
"""The name of a release in its ledger: 32 hexadecimal digits."""


class Ledger(LedgerReader):
    """A ledger in a SQLite file or on a PostgreSQL server, opened when needed.

    `url` is `sqlite:///PATH` or a path, or `postgresql://USER@HOST/DATABASE?schema=NAME`, whose
    password comes from the environment; other schemes raise `UnsupportedError`. `level` computes
    the level of a reading over a list of spends. `clock` tells the time of an entry (now), and
    `busy_seconds` is how long to wait for another process that holds the file.

    Every method raises `LedgerError` for a file that can't be used: missing folder, read-only,
    locked, damaged, no ledger, or of another version.
    """

    def register(
        self,
        dataset: str,
        unit: str,
        reading: Reading,
        *,
        private: Sequence[str] = (),
        public: Sequence[str] = (),
        analyst: str | None = None,
        people: str | None = None,
    ) -> None:
        """Add a reading, which must hold over what is spent already.

        `private` and `public` are the columns that the study declares so: what one study of a data
        set protects, no other may treat as public, nor the other way round. Registering the same
        reading again does nothing. `analyst` is whose entry it is, else the login name. `people`
        are those whom the data set shares with others: all of these have one budget (theory 2.10).

        Raises `BudgetExceededError` if it doesn't hold, `Refusal` for a frozen data set,
        `LedgerError` for another protected unit, another total of a reading that is there, such
        a column, or other people than the ledger has of the data set; `UnsupportedError` for a
        population that can't be read over several data sets.
        """
        columns = declared(private, public)
        self._add(dataset, unit, reading, columns, analyst, people, only_if_first=False)

    def ensure(
        self,
        dataset: str,
        unit: str,
        reading: Reading,
        *,
        private: Sequence[str] = (),
        public: Sequence[str] = (),
        analyst: str | None = None,
        people: str | None = None,
    ) -> None:
        """Register the first reading of a data set, or find the study's own among those there.

        Raises `BudgetExceededError` if a first reading doesn't hold over what is spent already;
        `LedgerError` if the data set has readings and this isn't one of them, for columns as
        `register` does, and for a new name (also of `people`) that looks like one that is there:
        only `register` takes those. Raises `Refusal` for what is new of a frozen data set, and as
        `register` about people.
        """
        columns = declared(private, public)
        self._add(dataset, unit, reading, columns, analyst, people, only_if_first=True)

    def share_people(
        self, people: str, datasets: Sequence[str], *, by: str | None = None
    ) -> Account:
        """Let data sets that are there share a budget, with all that they have spent; the account.

        From then on `people` stands in each of their studies. `by` is whose entry it is, the login
        name if it is left out. Nothing is written unless every reading of theirs, and of the data
        sets that share the budget already, holds over the sum. Raises `BudgetExceededError`
        where one doesn't, `UnknownNameError` for a data set that is not in the ledger,
        `LedgerError` for one that shares other people, for one that treats a column as public that
        another protects, and for a population that says nothing of what another data set has
        spent; `UnsupportedError` for a population that can't be read over several, `InputError` for
        no data set and for a name that can't be shown.
        """
        check_people_name(people)
        by = self._who(by)
        if not datasets:
            raise InputError("datasets", [], expected="at least one data set")
        with self._writing(create=False) as (log, _):
            book = Book(log.entries)  # its own, which nobody sees if nothing is written
            if people not in book.people:
                require_new_people(people, book.people)
            for name in dict.fromkeys(datasets):
                if name not in book.datasets:
                    raise unknown_name("dataset", name, book.names())
                record = book.datasets[name]
                if record.people == people:
                    continue
                check_named(name, record.people, record.people and people)
                there = book.account(name, people=people)
                if people in book.people:
                    new_columns(name, book.account(book.people[people][0].name), record.columns)
                for reading in there.readings:
                    check_reading(reading)
                content = people_content(people, by)
                log.append("people", self._now(), content, dataset=name)
                book = Book(log.entries)
            account = book.account(datasets[0])
            check_columns(datasets[0], account)
            check_spoken(account)
            self._require_kept(account, datasets[0], "Nothing was written.")
        return account

    def _require_kept(self, account: Account, dataset: str, end: str) -> None:
        """Raises `BudgetExceededError`, whose words `end` so, unless all readings hold."""
        for reading in account.readings:
            level = self._limits.level(reading, account.spends)
            if not keeps(level, reading.total, reading.delta):
                raise BudgetExceededError(
                    f"Together {account.whose(dataset)} would be at {up_words(level)} by this "
                    f"reading: {reading.words()}. It counts all releases of "
                    f"{account.of_all(dataset)}: {account.counted_words()}. {end}"
                )

    def share(self, dataset: str, analyst: str, share: float, *, by: str | None = None) -> Account:
        """Give an analyst a share of a data set's budget: a part of every reading's total.

        The analyst's own releases keep to it, besides all releases to the whole. The last share
        that was given counts. Once a data set has shares, who has none releases nothing. Where the
        data set shares people, the share is one of their budget, for all of their data sets: the
        account that is returned says whose it is. `by` is whose entry it is, the login name if it
        is left out. Raises `InputError` for a share that is
        not from 0 to 1, `UnknownNameError` for a data set that is not in the ledger, and
        `LedgerError` for a new analyst whose name looks like that of another.
        """
        names = {"analyst": checked_analyst(analyst), "by": self._who(by)}
        content = share_content(share=checked_share(share), **names)
        with self._writing(create=False) as (log, book):
            _require_there(dataset, book)
            require_known_analyst(analyst, book.analysts())
            log.append("share", self._now(), content, dataset=dataset)
            return book.account(dataset)

    def freeze(
        self, dataset: str, reason: str = "", *, frozen: bool = True, by: str | None = None
    ) -> list[str]:
        """Freeze a data set: nothing is released or registered until it is no longer `frozen`.

        It is frozen alone. Returned are the names of the other data sets of its people from which
        may be released all the same. `reason` is for people, `by` whose entry it is, the login name
        if it is left out. Raises `UnknownNameError` for a data set that is not in the ledger,
        `InputError` for a reason with letters that are not shown.
        """
        require_shown(reason, "reason")
        content = frozen_content(frozen=frozen, reason=reason, by=self._who(by))
        with self._writing(create=False) as (log, book):
            _require_there(dataset, book)
            log.append("frozen", self._now(), content, dataset=dataset)
            _, *others = book.sharing(book.datasets[dataset])
            return [other.name for other in others if other.frozen is None]

    def refused(
        self,
        dataset: str,
        study: str,
        reason: RefusalReason,
        *,
        analyst: str | None = None,
        spends: Sequence[Spend] = (),
    ) -> None:
        """Write that a release was refused, why, and whose attempt it was.

        A refusal because of the table tells something about the data, and costs nothing: it must
        leave a trace. `analyst` is the login name if it is left out, here and in `debit`. `spends`
        are what the release would have spent, as far as that was known.
        """
        check_text("data.dataset", dataset)
        analyst = self._who(analyst)
        with self._writing(create=True) as (log, _):
            self._refuse(log, dataset, analyst, study, reason, spends)

    def _refuse(
        self,
        log: Log,
        dataset: str,
        analyst: str,
        study: str,
        reason: RefusalReason,
        spends: Sequence[Spend],
    ) -> None:
        cost = total_cost(spends) if spends else None
        content = refusal_content(analyst=analyst, study=study, reason=reason, cost=cost)
        log.append("refusal", self._now(), content, dataset=dataset)

    def debit(
        self,
        dataset: str,
        unit: str,
        spends: Sequence[Spend],
        *,
        study: str,
        request: dict[str, Any],
        analyst: str | None = None,
        unless: Callable[[list[dict[str, Any]]], None] | None = None,
    ) -> ReleaseId:
        """Write the spends of one release, durably, or refuse and write only whose attempt it was.

        One transaction checks every reading over all spends, old and new, and inserts. `unless` is
        called in it with all releases of the data set, as `releases` has them; what it raises is
        raised, with nothing written. Raises
        `BudgetExceededError` (which reading breaks, what is left, what would fit, or that an
        analyst's share is used up), `Refusal` for a data set that is frozen, `LedgerError`
        (no reading registered, another data set, protected unit or people, or columns of which a
        reading of the same people says nothing), or `UnreadDeltaError` where a reading has no room
        for the spends' own deltas.
        """
        check_spends(dataset, unit, spends)
        analyst = self._who(analyst)
        content = release_content(analyst=analyst, study=study, request=request, spends=spends)
        release = ReleaseId(uuid.uuid4().hex)
        with self._writing(create=False) as (log, book):
            account = book.account(dataset, unit=unit)
            if not account.own(dataset):
                raise _no_reading(dataset)
            check_unit(dataset, account.unit, unit)
            check_named(dataset, account.people, spends[0].people)
            check_columns(dataset, account, spends)
            check_spoken(account, spends)
            if unless is not None:
                record = book.datasets[dataset]
                unless([release_in_full(log, record, debit) for debit in record.debits])
            stop = stopped(book, dataset, account, self._limits, analyst, spends)
            broken = [] if stop is not None else self._limits.broken(account, spends)
            if stop is not None:
                self._refuse(log, dataset, analyst, study, stop.reason, spends)
            elif not broken:
                log.append("release", self._now(), content, dataset=dataset, release=release)
            else:
                self._refuse(log, dataset, analyst, study, "budget", spends)
        if stop is not None:
            raise refusal_of(stop.reason, stop.words)
        if broken:
            # Outside the transaction: the search for what fits needn't hold up other processes.
            fits = self._limits.fits(account, spends)
            words = self._limits.refusal(dataset, account, spends, broken, fits)
            raise BudgetExceededError(f"{words} {NOTHING_SPENT}")
        return release

    def store(self, release_id: str, result: dict[str, Any]) -> None:
        """Write a release's result, durably and exactly once.

        Raises `LedgerError` for an unknown release and for one that has its result.
        """
        self.store_text(release_id, plain_text(result))

    def store_text(self, release_id: str, text: str) -> None:
        """The same for a result that is written out, by `plain_text`. Raises `LedgerError` too."""
        with self._writing(create=False) as (log, book):
            debit = debit_of(book, release_id)
            if debit.result is not None:
                raise LedgerError(
                    "release",
                    release_id,
                    expected="a release without a result",
                    remedy="A result is written once; a new one needs a new debit.",
                )
            log.append_result(self._now(), text, dataset=debit.entry.dataset, release=release_id)

    def export(self) -> list[str]:
        """Everything that is in the ledger, as it is at one moment: a line of JSON for each entry.

        A ledger of version 2 is brought up to this one first. Raises `LedgerError` for one that was
        edited.
        """
        with self._reading(whole=True) as (log, _):
            if log.texts is None:
                return list(lines_of(log))
        with self._writing(create=False) as (log, _):
            return list(lines_of(log))

    def restore(self, lines: Iterable[str]) -> Head:
        """Make this ledger of the lines of an `export`; the number and the hash of its last entry.

        All or nothing is written. Raises `LedgerError` where the ledger is there already, or was
        there with later entries as this process has seen it, and `InputError` for lines that were
        changed, left out or put in, that don't go together, or by which a reading doesn't hold.
        """
        entries, texts = entries_of(lines)

        def fill(connection: Connection) -> None:
            for fault in content_faults(Log(connection, entries, texts), self._limits):
                raise not_an_export(fault)
            insert(connection, entries, texts)

        self._store.restore(fill)
        return Head(entries[-1].sequence, entries[-1].hash)

    def _add(
        self,
        dataset: str,
        unit: str,
        reading: Reading,
        columns: Mapping[str, bool],
        analyst: str | None,
        people: str | None,
        *,
        only_if_first: bool,
    ) -> None:
        check_names(dataset, unit)
        if people is not None:
            check_people_name(people)
        by = self._who(analyst)
        reading = of_dataset(reading, dataset, people)
        with self._writing(create=True) as (log, book):
            account, known, new = admitted(
                book, dataset, unit, reading, columns, people, only_if_first=only_if_first
            )
            record = book.datasets.get(dataset)
            if record is not None and record.frozen is not None and (new or not known):
                raise Refusal(f"{frozen_words(record)} Nothing was registered.")
            if record is None:
                log.append("dataset", self._now(), dataset_content(unit, by), dataset=dataset)
                if people is not None:
                    content = people_content(people, by)
                    log.append("people", self._now(), content, dataset=dataset)
            if new:
                log.append("columns", self._now(), columns_content(new, by), dataset=dataset)
            if known:
                return
            level = self._limits.level(reading, account.spends)
            if not keeps(level, reading.total, reading.delta):
                whose = account.whose(dataset)
                raise BudgetExceededError(
                    f"{whose[0].upper()}{whose[1:]} {account.is_or_are} already at "
                    f"{up_words(level)} by this reading: {reading.words()}. It counts all releases "
                    f"of {account.of_all(dataset)}: {account.counted_words()}. Nothing was "
                    "registered. Register it with a total that covers what is spent."
                )
            log.append("reading", self._now(), reading_content(reading, by), dataset=dataset)

    @contextmanager
    def _writing(self, *, create: bool) -> Iterator[tuple[Log, Book]]:
        """A transaction that adds entries, durably where it is left without an exception."""
        with self._store.writing(create=create) as log, self.decoding():
            yield log, book_of(log)


def refusal_of(reason: RefusalReason, words: str) -> Refusal:
    """The refusal of a release for this `reason`, in these `words`; nothing was spent."""
    refused = Refusal if reason == "frozen" else BudgetExceededError
    return refused(f"{words} {NOTHING_SPENT}")


def _require_there(dataset: str, book: Book) -> None:
    if dataset not in book.datasets:
        raise unknown_name("dataset", dataset, book.names())


def _no_reading(dataset: str) -> LedgerError:
    return LedgerError(
        "data.dataset",
        dataset,
        expected="a data set with a registered reading",
        remedy="Register one with `bayesdp ledger register`, or release from a study.",
    )
