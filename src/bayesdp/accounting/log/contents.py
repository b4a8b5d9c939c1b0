"""What the entries of a ledger say: data sets with their readings, releases and refused attempts.

Entries are written by the functions `..._content` here, and read by `Book`, which holds them
against each other: a debit is of a data set that is there, a result of a debit that has none.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from typing import Any, Literal, TypeVar, get_args

from bayesdp.accounting.accounts.account import Account
from bayesdp.accounting.canonical import canonical_json
from bayesdp.accounting.costs.readings import Reading
from bayesdp.accounting.costs.spend import Spend
from bayesdp.accounting.log.entries import Entry, UndecodedError
from bayesdp.accounting.log.schema import FORMAT, VERSION
from bayesdp.errors import finite_number
from bayesdp.notions import Cost

T = TypeVar("T")

RefusalReason = Literal["table", "budget", "share", "frozen"]
"""Why an attempt was refused: what is in the table, a reading that would break, the share of the
analyst, or a data set that is frozen."""

NOT_WRITTEN = (TypeError, KeyError, ValueError, AttributeError, OverflowError, RecursionError)
"""How reading fails where an entry says what no ledger has written."""


def decoded(decoder: Callable[..., T], *values: Any) -> T:
    """What a decoder makes of values; every way in which that fails is an `UndecodedError`."""
    try:
        return decoder(*values)
    except NOT_WRITTEN as error:
        raise UndecodedError(str(error)) from error


def ledger_content(ledger: str, *, migrated: str = "") -> str:
    """What the first entry says: the format, the random name of the `ledger`, where it came from.

    `migrated` is the version of the file that was brought up to this one.
    """
    content = {"format": FORMAT, "version": VERSION, "id": ledger}
    return canonical_json(content | ({"migrated": migrated} if migrated else {}))


def columns_content(columns: Mapping[str, bool], by: str | None = None) -> str:
    """What the entry of newly declared columns says: of each whether it is private.

    Here and below, `by` is whose entry it is, where that is known.
    """
    return canonical_json({"columns": columns, **_by(by)})


def dataset_content(unit: str, by: str | None = None) -> str:
    """What the entry of a data set says: its protected unit."""
    return canonical_json({"unit": unit, **_by(by)})


def reading_content(reading: Reading, by: str | None = None) -> str:
    """What the entry of a reading says: the reading, and its key."""
    who = "" if by is None else f'"by":{canonical_json(by)},'
    text = f'{{{who}"key":"{reading.key()}","reading":{reading.text()}}}'
    _WRITTEN[:] = [(text, reading)]
    return text


def release_content(
    *, analyst: str, study: str, request: Mapping[str, Any], spends: Sequence[Spend]
) -> str:
    """What the entry of a debit says.

    `analyst` is whose it is, `study` and `request` what asked for it, `spends` what it costs.
    """
    content = {"analyst": analyst, "study": study, "request": request}
    return canonical_json(content | {"spends": [_plain(spend) for spend in spends]})


def refusal_content(*, analyst: str, study: str, reason: str, cost: Cost | None) -> str:
    """What the entry of a refused attempt says.

    `analyst` is whose attempt it was, `study` what asked, `reason` why it was refused, `cost` what
    the release would have cost, where that is known.
    """
    content: dict[str, Any] = {"analyst": analyst, "study": study, "reason": reason}
    if cost is not None:
        content |= {"dp_epsilon": cost.dp_epsilon, "dp_rho": cost.rho}
    return canonical_json(content)


def share_content(*, analyst: str, share: float, by: str) -> str:
    """What the entry of a share says: that `by` has given this `share` to the `analyst`."""
    return canonical_json({"analyst": analyst, "share": share, "by": by})


def frozen_content(*, frozen: bool, reason: str, by: str) -> str:
    """What the entry of a data set says that is `frozen`, or no longer is: `by` whom, and why.

    `reason` may be empty.
    """
    return canonical_json({"frozen": frozen, "reason": reason, "by": by})


def people_content(people: str, by: str) -> str:
    """What the entry says by which a data set shares these `people` with others: `by` whom."""
    return canonical_json({"people": people, "by": by})


def _by(name: str | None) -> dict[str, str]:
    return {} if name is None else {"by": name}


def _plain(spend: Spend) -> dict[str, Any]:
    """A spend without what its entry says of the data set."""
    plain = spend.to_dict()
    del plain["dataset"], plain["unit"]
    plain.pop("people", None)
    return plain


@dataclass
class DebitRecord:
    """A debit: the entry of the release, and that of its result once it is stored."""

    entry: Entry
    result: Entry | None = None
    spends: tuple[Spend, ...] | None = field(default=None, repr=False)
    """What it has spent, once it was read."""

    @property
    def id(self) -> str:
        """The release's name."""
        return self.entry.release

    @property
    def said(self) -> dict[str, Any]:
        """What its entry says: `analyst`, `study`, `request` and `spends`, as plain data."""
        return decoded(said_in, self.entry)


@dataclass(frozen=True)
class Freeze:
    """That a data set is frozen: `by` whom, for which `reason`, since which `time`."""

    by: str
    reason: str
    time: str


@dataclass
class DatasetRecord:
    """The entries about one data set, in their order."""

    name: str
    unit: str
    columns: dict[str, bool] = field(default_factory=dict)
    """Whether each column is private, as it was declared first."""
    redeclared: set[str] = field(default_factory=set)
    """The columns that were declared otherwise later, as no study can."""
    readings: list[Entry] = field(default_factory=list)
    debits: list[DebitRecord] = field(default_factory=list)
    shares: dict[str, float] = field(default_factory=dict)
    shared_at: dict[str, int] = field(default_factory=dict)
    """The number of the entry of each share."""
    frozen: Freeze | None = None
    people: str | None = None

    def declare(self, columns: Mapping[str, bool]) -> None:
        """Take in what an entry says of `columns`."""
        for name, private in columns.items():
            if self.columns.setdefault(name, private) is not private:
                self.redeclared.add(name)

    def spends(self, debit: DebitRecord) -> tuple[Spend, ...]:
        """What one of its releases has spent. Raises `UndecodedError` for what no ledger wrote."""
        if debit.spends is None:
            debit.spends = decoded(_spends_of, debit.entry, self.unit, self.people)
        return debit.spends

    def own_readings(self) -> tuple[Reading, ...]:
        """Its readings as objects. Raises `UndecodedError` for what no ledger wrote."""
        readings = (decoded(reading_of, entry) for entry in self.readings)
        if self.people is None:
            return tuple(readings)
        return tuple(replace(reading, dataset=self.name) for reading in readings)


class Book:
    """All entries by what they are about: `datasets`, and `refused` attempts in their order.

    `debits` are all releases by their names, `people` the data sets of each by the people's name,
    `number` is that of the entries. Raises `UndecodedError` naming the entry, for entries that
    don't go together.
    """

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.datasets: dict[str, DatasetRecord] = {}
        self.people: dict[str, list[DatasetRecord]] = {}
        self.debits: dict[str, DebitRecord] = {}
        self.refused: list[Entry] = []
        self.number = 0
        self.take_all(entries)

    def take_all(self, entries: Iterable[Entry]) -> None:
        """Add the entries that follow. Raises `UndecodedError`, and is of no use any more then."""
        for entry in entries:
            try:
                self.take(entry)
            except NOT_WRITTEN as error:
                raise UndecodedError(f"entry {entry.sequence}: {error}") from error

    def take(self, entry: Entry) -> None:
        """Put the next entry where it belongs.

        Raises `ValueError`, of which `InputError` is one, where no ledger wrote it.
        """
        _require((entry.kind == "ledger") == (self.number == 0), "no ledger begins here")
        self.number += 1
        if entry.kind != "ledger" or entry.time:  # an empty one of version 2 had no time
            aware = datetime.fromisoformat(entry.time).tzinfo is not None
            _require(aware, "its time has no offset from UTC")
        match entry.kind:
            case "ledger":
                content = said_in(entry)
                ledger_format = content["format"], content["version"]
                _require(ledger_format == (FORMAT, VERSION), "it is of another format or version")
            case "dataset":
                _require(entry.dataset not in self.datasets, "the data set was there before")
                unit = _text(said_in(entry), "unit")
                self.datasets[entry.dataset] = DatasetRecord(entry.dataset, unit)
            case "columns":
                self._of(entry).declare(_flags(said_in(entry)["columns"]))
            case "reading":
                self._of(entry).readings.append(entry)
            case "release":
                _require(entry.release not in self.debits, "the release was there before")
                debit = DebitRecord(entry)
                self._of(entry).debits.append(debit)
                self.debits[entry.release] = debit
            case "result":
                debit = self.debits[entry.release]
                _require(debit.entry.dataset == entry.dataset, "its release is of other data")
                _require(debit.result is None, "its release had a result before")
                _text(said_in(entry), "sha256")
                debit.result = entry
            case "refusal":
                self.refused.append(entry)
            case "share":
                content = said_in(entry)
                record, analyst = self._of(entry), _text(content, "analyst")
                record.shares[analyst] = _share(content["share"])
                record.shared_at[analyst] = entry.sequence
            case "frozen":
                content = said_in(entry)
                freeze = Freeze(_text(content, "by"), _text(content, "reason"), entry.time)
                self._of(entry).frozen = freeze if _flag(content["frozen"]) else None
            case "people":
                record, people = self._of(entry), _text(said_in(entry), "people")
                _require(record.people is None, "the people of its data set were named before")
                _require(bool(people.strip()), "its people have no name")
                record.people = people
                for debit in record.debits:  # what was spent before is their people's too
                    debit.spends = None
                self.people.setdefault(people, []).append(record)
            case _:
                raise ValueError(f"no ledger of this version writes '{entry.kind[:40]}'")

    def _of(self, entry: Entry) -> DatasetRecord:
        """The data set that an entry is about."""
        record = self.datasets.get(entry.dataset)
        _require(record is not None, "its data set is not in the ledger")
        assert record is not None
        return record

    def names(self) -> list[str]:
        """The names of all data sets, sorted."""
        return sorted(self.datasets)

    def account(self, name: str, *, unit: str = "row", people: str | None = None) -> Account:
        """What counts of the data set of this `name`: of people that it shares, of all data sets.

        `unit` and `people` are those of a data set that is not in the ledger yet. Raises
        `UndecodedError` for an entry that no ledger has written.
        """
        record = self.datasets.get(name) or DatasetRecord(name, unit, people=people)
        return _account(record, self.sharing(record))

    def sharing(self, record: DatasetRecord) -> list[DatasetRecord]:
        """The data sets whose budget is that of this one: itself, and all of the same people."""
        if record.people is None:
            return [record]
        members = self.people.get(record.people, [])
        return [record, *(member for member in members if member is not record)]

    def spends_of(self, name: str, analyst: str, people: str | None = None) -> list[Spend]:
        """What the releases of one analyst have spent, of a data set and all of the same people.

        `name` and `people` as in `account`, which it raises as.
        """
        record = self.datasets.get(name) or DatasetRecord(name, "row", people=people)
        return [
            spend
            for member in self.sharing(record)
            for debit in member.debits
            if debit.said.get("analyst") == analyst
            for spend in member.spends(debit)
        ]

    def analysts(self) -> set[str]:
        """Everybody who has released, or tried to, or has a share."""
        names = {str(debit.said.get("analyst")) for debit in self.debits.values()}
        names |= {str(refusal["analyst"]) for refusal in self.refusals()}
        return names.union(*(record.shares for record in self.datasets.values()))

    def refusals(self) -> list[dict[str, Any]]:
        """Every refused attempt, as `Ledger.refusals` lists them."""
        return [decoded(refusal_in, entry) for entry in self.refused]


def _account(record: DatasetRecord, sharing: Sequence[DatasetRecord]) -> Account:
    """The account of `record`, the first of the data sets that are `sharing` its budget."""
    debits = sorted(
        ((debit, member) for member in sharing for debit in member.debits),
        key=lambda pair: pair[0].entry.sequence,
    )
    own_readings = {member.name: member.own_readings() for member in sharing}
    readings = list(own_readings[record.name])  # each is a promise about the columns that it names
    alike = {(reading.subject_key(), reading.total) for reading in readings}
    for member in sharing[1:]:
        for reading in own_readings[member.name]:  # whose columns make no other level
            kind = reading.subject_key(), reading.total
            if kind not in alike:
                alike.add(kind)
                readings.append(reading)
    columns = {name: flag for member in sharing for name, flag in member.columns.items()}
    memberships = sorted((number, who, m) for m in sharing for who, number in m.shared_at.items())
    return Account(
        unit=record.unit,
        readings=tuple(readings),
        spends=tuple(spend for debit, member in debits for spend in member.spends(debit)),
        columns=columns,
        contradictions=_contradictions(columns, sharing),
        releases=len(debits),
        since=min((debit.entry.time for debit, _ in debits), default=""),
        people=record.people,
        declared=own_readings,
        shares={who: member.shares[who] for _, who, member in memberships},
    )


def _contradictions(
    columns: Mapping[str, bool], sharing: Sequence[DatasetRecord]
) -> dict[str, tuple[list[str], list[str]]]:
    """As `Account.contradictions`: of all `columns` of data sets that are `sharing` a budget."""
    twice = {name for member in sharing for name in member.redeclared}
    twice |= {
        name
        for member in sharing
        for name, private in member.columns.items()
        if columns[name] is not private
    }

    def declaring(name: str, private: bool) -> list[str]:
        return [
            member.name
            for member in sharing
            if member.columns.get(name) is private or name in member.redeclared
        ]

    return {name: (declaring(name, True), declaring(name, False)) for name in sorted(twice)}


def refusal_in(entry: Entry) -> dict[str, Any]:
    """A refused attempt, as `Ledger.refusals` lists it.

    Raises `ValueError` for what no ledger has written, and `InputError` for a cost that is none.
    """
    content = said_in(entry)
    costs = {name: _double(content.get(name)) for name in ("dp_epsilon", "dp_rho")}
    _require(len({cost is None for cost in costs.values()}) == 1, "half of its cost is not there")
    _require(content["reason"] in get_args(RefusalReason), "its reason is not a reason")
    return {
        "dataset": entry.dataset,
        **{name: _text(content, name) for name in ("analyst", "study", "reason")},
        "time": entry.time,
        **costs,
    }


def _double(value: object) -> float | None:
    """A cost of a text in which 1.0 is written as 1."""
    return None if value is None else finite_number("cost", value, expected="a cost", zero=True)


def _require(holds: bool, problem: str) -> None:
    if not holds:
        raise ValueError(problem)


def _text(content: Mapping[str, Any], name: str) -> str:
    """What an entry has said by a name, which can be printed."""
    text = content[name]
    _require(isinstance(text, str), f"its '{name}' is not a text")
    text.encode()  # a ValueError for half a letter
    return str(text)


def _share(value: object) -> float:
    share = finite_number("share", value, expected="a share", zero=True)
    _require(share <= 1.0 and not isinstance(value, bool), "a share is from 0 to 1")
    return share


def _flag(value: object) -> bool:
    _require(isinstance(value, bool), "it says neither true nor false")
    return value is True


def _flags(columns: Mapping[str, object]) -> dict[str, bool]:
    return {_text({"column": name}, "column"): _flag(value) for name, value in columns.items()}


def said_in(entry: Entry) -> dict[str, Any]:
    """What an entry says, as plain data. Raises `ValueError` for what no ledger has written."""
    content = json.loads(entry.content)
    _require(isinstance(content, dict), "its content is not an object")
    _text({"by": content.get("by", "")}, "by")
    return dict(content)


def result_of(text: str) -> dict[str, Any]:
    """A result as plain data, with a level and a claim of their types where it has them.

    What else a result says depends on what made it. Raises `ValueError` for other texts, and the
    `InputError` of a level that is none.
    """
    result = json.loads(text)
    for document in (result, certificate_in(result), claim_in(result)):
        _require(isinstance(document, dict), "a part of its result is not an object")
    numbers = [result.get(name) or 0.0 for name in ("level", "delta")]
    for number in numbers:
        finite_number("result", number, expected="a number from 0", zero=True)
    _text({"notion": claim_in(result).get("notion") or ""}, "notion")
    return dict(result)


def certificate_in(result: Mapping[str, Any]) -> Mapping[str, Any]:
    """The certificate of a release's result as plain data; empty where it has none."""
    return result.get("certificate") or {}


def claim_in(result: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the certificate of a release's result claims; empty where it has none."""
    return certificate_in(result).get("claim") or {}


@lru_cache(maxsize=16384)
def _spends_of(entry: Entry, unit: str, people: str | None) -> tuple[Spend, ...]:
    content = said_in(entry)
    _text(content, "analyst"), _text(content, "study")
    _require(isinstance(content["request"], dict), "its 'request' is not an object")
    named = {"dataset": entry.dataset, "unit": unit, "people": people}
    return tuple(Spend.from_dict({**item, **named}) for item in content["spends"])


_WRITTEN: list[tuple[str, Reading]] = []
"""The reading that was written last, with its content: it may be long, and is read next."""


def reading_of(entry: Entry) -> Reading:
    """The reading of an entry. Raises `ValueError` if its key is not that of the reading."""
    return _reading(entry.content)


@lru_cache(maxsize=64)
def _reading(content: str) -> Reading:
    for written, reading in _WRITTEN:
        if content == written:
            return reading
    fields = json.loads(content)
    _text({"by": fields.get("by", "")}, "by")
    reading = Reading.from_dict(fields["reading"])
    _require(reading.key() == fields["key"], "a reading doesn't match its key")
    return reading
