"""The durable ledger: what was spent on each data set, and what it may still be spent on.

Differential privacy is spent once, whatever population a study declares, so the ledger keeps one
list of spends per data set. Each registered reading turns that list into a level and caps it; a
debit is written only if every reading still holds afterwards (theory 2.2).

The order that keeps the promise: `debit` is durable before noise is drawn, `store` is durable
before a result is shown. A crash in between loses budget, never privacy.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, NewType, Unpack

from sqlalchemy import Connection, and_, func, select

from bayesdp.accounting import schema
from bayesdp.accounting.account import (
    NOTHING_SPENT,
    Account,
    Preview,
    check_names,
    check_spends,
    check_unit,
    declared,
    is_registered,
    new_columns,
)
from bayesdp.accounting.analysts import by_analyst, checked_analyst
from bayesdp.accounting.canonical import canonical_json, plain_text
from bayesdp.accounting.chosen import EntryFilter, chosen
from bayesdp.accounting.deltas import within_deltas
from bayesdp.accounting.field_checks import check_text
from bayesdp.accounting.lookalikes import require_new_name
from bayesdp.accounting.rounded import STEPS, keeps, left, left_words, scaled, spent, up_words
from bayesdp.accounting.shown import spent_html
from bayesdp.accounting.spend import (
    LevelFunction,
    Reading,
    Spend,
    total_cost,
)
from bayesdp.accounting.storage import LedgerFile
from bayesdp.errors import BudgetExceededError, LedgerError
from bayesdp.statements.base import exact_text

ReleaseId = NewType("ReleaseId", str)
"""The name of a release in its ledger: 32 hexadecimal digits."""

RefusalReason = Literal["table", "budget"]
"""Why an attempt was refused: what is in the table, or a reading that would break."""


class Ledger:
    """A ledger in a SQLite file, opened when needed.

    `url` is `sqlite:///PATH` or a path; other schemes raise `UnsupportedError`. `level` computes
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
        self._file = LedgerFile(url, busy_seconds=busy_seconds)
        self._level = within_deltas(level)
        self._clock = clock

    @property
    def path(self) -> Path:
        """The ledger's file. It need not exist yet."""
        return self._file.path

    def register(
        self,
        dataset: str,
        unit: str,
        reading: Reading,
        *,
        private: Sequence[str] = (),
        public: Sequence[str] = (),
    ) -> None:
        """Add a reading, which must hold over what is spent already.

        `private` and `public` are the columns that the study declares so: what one study of a data
        set protects, no other may treat as public, nor the other way round. Registering the same
        reading again does nothing. Raises `BudgetExceededError` if it doesn't hold, `LedgerError`
        for another protected unit, another total of a reading that is there, or such a column.
        """
        self._add(dataset, unit, reading, declared(private, public), only_if_first=False)

    def ensure(
        self,
        dataset: str,
        unit: str,
        reading: Reading,
        *,
        private: Sequence[str] = (),
        public: Sequence[str] = (),
    ) -> None:
        """Register the first reading of a data set, or find the study's own among those there.

        Raises `BudgetExceededError` if a first reading doesn't hold over what is spent already;
        `LedgerError` if the data set has readings and this isn't one of them, for columns as
        `register` does, and for a new name that looks like one that is there: only `register` takes
        those.
        """
        self._add(dataset, unit, reading, declared(private, public), only_if_first=True)

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
        row = {"dataset": dataset, "analyst": checked_analyst(analyst), "study": study}
        with self._file.writing(create=True) as connection:
            self._refuse(connection, row, reason, spends)

    def _refuse(
        self,
        connection: Connection,
        row: dict[str, str],
        reason: RefusalReason,
        spends: Sequence[Spend],
    ) -> None:
        row = row | {"reason": reason, "time": self._now()}
        schema.insert_refusal(connection, row, total_cost(spends) if spends else None)

    def refusals(self, **only: Unpack[EntryFilter]) -> list[dict[str, Any]]:
        """Every such refusal, oldest first: `dataset`, `analyst`, `study`, `reason`, `time`.

        With `dp_epsilon` and `dp_rho`, the cost that the release would have had; `None` where that
        is not known. `only` chooses some of them, as in `show`.
        """
        if only:
            return self.entries(**only)[1]
        with self._file.reading() as connection:
            return schema.refusals_in(connection)

    def debit(
        self,
        dataset: str,
        unit: str,
        spends: Sequence[Spend],
        *,
        study: str,
        request: dict[str, Any],
        analyst: str | None = None,
    ) -> ReleaseId:
        """Write the spends of one release, durably, or refuse and write only whose attempt it was.

        One transaction checks every reading over all spends, old and new, and inserts. Raises
        `BudgetExceededError` (which reading breaks, what is left, what would fit), `LedgerError`
        (no reading registered, another data set or protected unit), or `UnreadDeltaError` where a
        reading has no room for the spends' own deltas.
        """
        check_spends(dataset, unit, spends)
        text = canonical_json(request)
        who = {"dataset": dataset, "analyst": checked_analyst(analyst), "study": study}
        release = ReleaseId(uuid.uuid4().hex)
        with self._file.writing(create=False) as connection:
            account = self._account(connection, dataset)
            if account is None or not account.readings:
                raise _no_reading(dataset)
            check_unit(dataset, account.unit, unit)
            refusal = self._broken(account, spends)
            if not refusal:
                row = who | {"id": release, "request": text, "time": self._now()}
                connection.execute(schema.releases.insert(), row)
                for spend in spends:
                    schema.insert_spend(connection, spend, release)
            else:
                self._refuse(connection, who, "budget", spends)
        if refusal:
            # Outside the transaction: the search for what fits needn't hold up other processes.
            fits = self._fits(account, spends)
            words = self._refusal(dataset, account, spends, refusal, fits)
            raise BudgetExceededError(f"{words} {NOTHING_SPENT}")
        return release

    def store(self, release_id: str, result: dict[str, Any]) -> None:
        """Write a release's result, durably and exactly once.

        Raises `LedgerError` for an unknown release and for one that has its result.
        """
        self.store_text(release_id, plain_text(result))

    def store_text(self, release_id: str, text: str) -> None:
        """The same for a result that is written out, by `plain_text`. Raises `LedgerError` too."""
        with self._file.writing(create=False) as connection:
            schema.release_row(connection, release_id)
            if schema.result_of(connection, release_id) is not None:
                raise LedgerError(
                    "release",
                    release_id,
                    expected="a release without a result",
                    remedy="A result is written once; a new one needs a new debit.",
                )
            row = {"release": release_id, "result": text, "time": self._now()}
            connection.execute(schema.results.insert(), row)

    def release(self, release_id: str) -> dict[str, Any]:
        """One release as in `show`, with its `dataset`, `unit` and `request` too."""
        with self._file.reading() as connection:
            row = schema.release_row(connection, release_id)
            unit = schema.unit_of(connection, row.dataset)
            release = self._release(connection, row, str(unit))
            request = self._decode(json.loads, row.request)
            return {"dataset": row.dataset, "unit": unit, **release, "request": request}

    def releases(self, dataset: str) -> list[dict[str, Any]]:
        """Every release of a data set as in `release`, oldest first; empty for an unknown one."""
        with self._file.reading() as connection:
            releases = schema.releases
            ids = connection.scalars(
                select(releases.c.id)
                .where(releases.c.dataset == dataset)
                .order_by(releases.c.sequence)
            ).all()
        return [self.release(release) for release in ids]

    def __repr__(self) -> str:
        return f"Ledger({str(self.path)!r})"

    def _repr_html_(self) -> str:
        """What a notebook shows: by data set, what was spent and what is left of each reading."""
        return spent_html(self.show() if self.path.exists() else ())

    def spends(self, dataset: str, before: str | None = None) -> list[Spend]:
        """Everything spent on a data set, oldest first; empty for an unknown data set.

        With `before`, only what was spent before that release.
        """
        with self._file.reading() as connection:
            account = self._account(connection, dataset, before=before)
            return [] if account is None else list(account.spends)

    def show(self, **only: Unpack[EntryFilter]) -> list[dict[str, Any]]:
        """Every data set as plain data, in the order of their names.

        `only` chooses a `dataset`, or the releases and refused attempts of an `analyst`, or those
        `since` and `until` a time: a date (that whole day) or a time, as a text such as
        `"2026-11-01"` or as Python has it, in UTC where it has no offset. What is spent and left
        counts all releases even so. Raises `InputError` for a name that is not in the ledger, and
        for a time that is none.

        `spent` is the sum of pure DP costs, `spent_rho` that of zCDP costs and `spent_delta` that
        of the deltas that mechanisms have of their own, rounded up;
        `counted` says in words how many releases they are of, and since when. A
        reading has its `level` now, its `total` and what is `left` (rounded down). A release is
        `debited` until its result is stored, then `released`. `analysts` are as in `by_analyst`.
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
    ) -> Preview:
        """What `ensure` and `debit` would do, without writing; the ledger needn't exist yet.

        Raises the `LedgerError` that they would raise; a broken budget is stated in the result.
        """
        check_spends(dataset, unit, spends)
        account: Account | None = None
        if self._file.exists():
            with self._file.reading() as connection:
                account = self._account(connection, dataset)
                if account is None:
                    require_new_name(dataset, schema.names_in(connection))
        if account is None:
            account = Account(unit, (), ())
        check_unit(dataset, account.unit, unit)
        new_columns(dataset, account, declared(private, public))
        if not is_registered(dataset, account, reading, only_if_first=True):
            account = replace(account, readings=(reading,))
        readings = [
            self._previewed(registered, account.spends, spends) for registered in account.readings
        ]
        broken, counted = self._broken(account, spends), account.counted_words()
        if not broken:
            return Preview(readings, None, counted=counted)
        fits = self._fits(account, spends)
        refusal = self._refusal(dataset, account, spends, broken, fits)
        return Preview(readings, refusal, fits, counted)

    def _add(
        self,
        dataset: str,
        unit: str,
        reading: Reading,
        columns: Mapping[str, bool],
        *,
        only_if_first: bool,
    ) -> None:
        check_names(dataset, unit)
        with self._file.writing(create=True) as connection:
            account = self._account(connection, dataset)
            if account is None:
                if only_if_first:
                    require_new_name(dataset, schema.names_in(connection))
                row = {"name": dataset, "unit": unit, "time": self._now()}
                connection.execute(schema.datasets.insert(), row)
                account = Account(unit, (), ())
            check_unit(dataset, account.unit, unit)
            for name, private in new_columns(dataset, account, columns).items():
                column = {"dataset": dataset, "name": name, "private": private}
                connection.execute(schema.columns.insert(), {**column, "time": self._now()})
            if is_registered(dataset, account, reading, only_if_first=only_if_first):
                return
            level = self._level(reading, account.spends)
            if not keeps(level, reading.total, reading.delta):
                raise BudgetExceededError(
                    f"The data set '{dataset}' is already at {up_words(level)} by this reading: "
                    f"{reading.words()}. It counts all releases of the data set: "
                    f"{account.counted_words()}. Nothing was registered. "
                    f"Register it with a total that covers what is spent."
                )
            row = schema.reading_row(dataset, reading, self._now())
            connection.execute(schema.readings.insert(), row)

    def _account(
        self, connection: Connection, dataset: str, *, before: str | None = None
    ) -> Account | None:
        unit = schema.unit_of(connection, dataset)
        if unit is None:
            return None
        readings, releases, spends = schema.readings, schema.releases, schema.spends
        declared = connection.execute(
            select(readings).where(readings.c.dataset == dataset).order_by(readings.c.sequence)
        ).all()
        counted = releases.c.dataset == dataset
        if before is not None:
            first_left_out = schema.release_row(connection, before).sequence
            counted = and_(counted, releases.c.sequence < first_left_out)
        written = (
            schema.spend_rows(connection)
            .join(releases, releases.c.id == spends.c.release)
            .where(counted)
            .order_by(spends.c.sequence)
        )
        spent = connection.execute(written).all()
        columns = connection.execute(
            select(schema.columns).where(schema.columns.c.dataset == dataset)
        ).all()
        made = select(func.count(), func.min(releases.c.time)).where(counted)
        number, first = connection.execute(made).one()
        return Account(
            unit=unit,
            readings=tuple(self._decode(schema.reading_of, row) for row in declared),
            spends=tuple(self._decode(schema.spend_of, row, dataset, unit) for row in spent),
            columns={row.name: row.private for row in columns},
            releases=int(number),
            since=first or "",
        )

    def _decode(self, decoder: Callable[..., Any], *values: object) -> Any:
        """The reading or spend in a row; `LedgerError` for a row that no ledger has written."""
        try:
            return decoder(*values)
        except (TypeError, ValueError) as error:
            raise self._file.damaged(str(error)) from error

    def _broken(self, account: Account, spends: Sequence[Spend]) -> list[Reading]:
        together = [*account.spends, *spends]
        # A level that is not a number must not pass, and doesn't keep to anything.
        return [
            reading
            for reading in account.readings
            if not keeps(self._level(reading, together), reading.total, reading.delta)
        ]

    def _refusal(
        self,
        dataset: str,
        account: Account,
        spends: Sequence[Spend],
        broken: Sequence[Reading],
        fits: float,
    ) -> str:
        lines = []
        for reading in broken:
            now = self._level(reading, account.spends)
            after = self._level(reading, [*account.spends, *spends])
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
            f"The budget of the data set '{dataset}' doesn't allow this release "
            f"(DP cost {spent(total_cost(spends))}). It counts all releases of the data set: "
            f"{account.counted_words()}. "
            f"{' '.join(lines)} {advice}"
        )

    def _fits(self, account: Account, spends: Sequence[Spend]) -> float:
        """The largest multiple of the costs that all readings allow, rounded down; 0 if none."""
        fits, breaks = 0, STEPS
        while breaks - fits > 1:
            middle = (fits + breaks) // 2
            if self._broken(account, [scaled(spend, middle) for spend in spends]):
                breaks = middle
            else:
                fits = middle
        return fits / STEPS

    def entries(
        self, **only: Unpack[EntryFilter]
    ) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """The data sets as in `show` and the refused attempts, as they were at one moment."""
        with self._file.reading() as connection:
            datasets = [self._dataset(connection, name) for name in schema.names_in(connection)]
            refusals = schema.refusals_in(connection)
        return chosen(datasets, refusals, **only)

    def _dataset(self, connection: Connection, dataset: str) -> dict[str, Any]:
        account = self._account(connection, dataset)
        assert account is not None  # it was listed in this very transaction
        releases = schema.releases
        rows = connection.execute(
            select(releases).where(releases.c.dataset == dataset).order_by(releases.c.sequence)
        ).all()
        made = [self._release(connection, row, account.unit) for row in rows]
        refused = [row for row in schema.refusals_in(connection) if row["dataset"] == dataset]
        return {
            "dataset": dataset,
            "unit": account.unit,
            "counted": account.counted_words(),
            "spent": total_cost(account.spends).dp_epsilon,
            "spent_rho": total_cost(account.spends).rho,
            "spent_delta": total_cost(account.spends).dp_delta,
            "readings": [self._read(reading, account.spends) for reading in account.readings],
            "releases": made,
            "refusals": len(refused),
            "analysts": by_analyst(made, refused),
        }

    def _read(self, reading: Reading, spends: Sequence[Spend]) -> dict[str, Any]:
        level = self._level(reading, spends)
        return {
            **reading.to_dict(),
            "key": reading.key(),
            "words": reading.words(),
            "level": level,
            "left": left(reading.total, level),
        }

    def _previewed(
        self, reading: Reading, before: Sequence[Spend], new: Sequence[Spend]
    ) -> dict[str, Any]:
        after = self._level(reading, [*before, *new])
        return {
            **self._read(reading, before),
            "level_after": after,
            "left_after": left(reading.total, after),
            "holds": keeps(after, reading.total, reading.delta),
        }

    def _release(self, connection: Connection, row: Any, unit: str) -> dict[str, Any]:
        spends = schema.spends
        rows = connection.execute(
            schema.spend_rows(connection)
            .where(spends.c.release == row.id)
            .order_by(spends.c.sequence)
        ).all()
        result = schema.result_of(connection, row.id)
        release: dict[str, Any] = {
            "id": row.id,
            "time": row.time,
            "analyst": row.analyst,
            "study": row.study,
            "status": "debited" if result is None else "released",
            "spends": [
                self._decode(schema.spend_of, spend_row, row.dataset, unit).to_dict()
                for spend_row in rows
            ],
        }
        if result is not None:
            release["result"] = self._decode(json.loads, result)
        return release

    def _now(self) -> str:
        now = self._clock() if self._clock is not None else datetime.now(UTC)
        return now.astimezone(UTC).isoformat(timespec="microseconds")


def _no_reading(dataset: str) -> LedgerError:
    return LedgerError(
        "data.dataset",
        dataset,
        expected="a data set with a registered reading",
        remedy="Register one with `bayesdp ledger register`, or release from a study.",
    )
