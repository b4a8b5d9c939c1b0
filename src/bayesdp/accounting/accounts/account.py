"""What a data set's account holds, and what may be written to it.

Readings, protected units and columns must agree between all studies of one data set.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

from bayesdp.accounting.costs.field_checks import check_text
from bayesdp.accounting.costs.readings import Reading
from bayesdp.accounting.costs.rounded import spent
from bayesdp.accounting.costs.spend import Spend, total_cost
from bayesdp.errors import InputError, LedgerError
from bayesdp.notions import Cost
from bayesdp.statements.base import exact_text

NOTHING_SPENT = "Nothing was released and nothing was spent."
"""What ends the message of a release that was refused."""


@dataclass(frozen=True, slots=True)
class Account:
    """What a ledger holds about one data set."""

    unit: str
    readings: tuple[Reading, ...]
    spends: tuple[Spend, ...]
    columns: Mapping[str, bool] = field(default_factory=dict)
    """Whether a column is private, for every column that a study has declared."""
    contradictions: Mapping[str, tuple[Sequence[str], Sequence[str]]] = field(default_factory=dict)
    """For each column that is both: the data sets in which it is private, and public."""
    releases: int = 0
    since: str = ""
    """How many releases the spends are of, and when the first was (a text in ISO 8601)."""
    people: str | None = None
    """The people that the data set shares with others: everything here is then of all of these."""
    declared: Mapping[str, tuple[Reading, ...]] = field(default_factory=dict)
    """The readings by the data set that they are registered for, the own one first."""
    shares: Mapping[str, float] = field(default_factory=dict)
    """The share of each analyst that has one, the last that was given."""

    def counted_words(self) -> str:
        """What a limit of the data set is about: its releases so far, and what they cost."""
        return counted_words(self.releases, self.since, total_cost(self.spends))

    def own(self, dataset: str) -> tuple[Reading, ...]:
        """The readings that are registered for this data set."""
        return self.declared.get(dataset, ()) if self.people is not None else self.readings

    def with_reading(self, dataset: str, reading: Reading) -> Account:
        """The same with a further `reading` of the data set; one like it of another counts once."""
        own = self.own(dataset)
        kind = reading.subject_key(), reading.total
        others = [
            other
            for other in self.readings
            if other not in own and (other.subject_key(), other.total) != kind
        ]
        by_dataset = {**self.declared, dataset: (*own, reading)}
        readings = [*own, reading, *others]
        return replace(self, readings=tuple(readings), declared=by_dataset)

    def whose(self, dataset: str) -> str:
        """Whose budget it is, in words: of this data set, or of the people that it shares."""
        if self.people is None:
            return f"the data set '{dataset}'"
        return f"the people '{self.people}'"

    @property
    def is_or_are(self) -> str:
        """The verb that belongs to `whose`."""
        return "is" if self.people is None else "are"

    def of_all(self, dataset: str) -> str:
        """What all releases are of, in words: this data set, or all those of the same people."""
        if self.people is None:
            return "the data set"
        names = ", ".join(f"'{name}'" for name in dict.fromkeys([*self.declared, dataset]))
        return f"their data sets ({names})"


@dataclass(frozen=True, slots=True)
class Preview:
    """What a debit would do.

    `readings` are as in `Ledger.show`, each with its `level_after`, what is `left_after` and
    whether it `holds` (`None` and `None` where it has no room for a mechanism's own delta, and so
    no level); `refusal` is the message with which `debit` would refuse, or None, and `fits` the
    largest multiple of the costs that all readings allow, rounded down: 1 or less.
    `counted` says in words which releases the readings are about, `reason` why it is refused.
    """

    readings: list[dict[str, Any]]
    refusal: str | None
    fits: float = 1.0
    counted: str = ""
    reason: Literal["table", "budget", "share", "frozen"] = "budget"


def to_the_second(time: str) -> str:
    """A time of a ledger (ISO 8601 with its offset from UTC) without the parts of its second.

    >>> to_the_second("2026-11-29T17:14:26.236648+00:00")
    '2026-11-29T17:14:26+00:00'
    """
    return datetime.fromisoformat(time).isoformat(timespec="seconds")


def counted_words(releases: int, since: str, cost: Cost) -> str:
    """So many `releases` `since` a time, and what they cost together, in words."""
    if not releases:
        return "no release so far"
    number = "1 release" if releases == 1 else f"{releases} releases"
    return f"{number} since {to_the_second(since)}, DP cost {spent(cost)}"


def is_registered(dataset: str, account: Account, reading: Reading, *, only_if_first: bool) -> bool:
    """Whether the reading is registered already.

    Raises `LedgerError` if it isn't and can't be added: if the same reading has another total or,
    with `only_if_first`, if the data set has other readings, or shares people whose readings differ
    from this one in more than the columns.
    """
    own = account.own(dataset)
    if reading.key() in {registered.key() for registered in own}:
        return True
    alike = [other for other in account.readings if other.subject_key() == reading.subject_key()]
    if alike and reading.total not in [other.total for other in alike]:
        raise LedgerError(
            "budget.epsilon",
            reading.total,
            expected=f"{exact_text(min(other.total for other in alike))}, the total that "
            f"{account.whose(dataset)} {account.is_or_are} kept to",
            remedy="A study can't raise a total, nor lower one.",
        )
    if only_if_first and (own or (account.readings and not alike)):
        own_or_shared = own or account.readings
        nearest = min(own_or_shared, key=lambda other: len(differences(reading, other)))
        there = "; ".join(registered.words() for registered in own_or_shared)
        raise LedgerError(
            "budget",
            expected=f"a reading that is registered for {account.whose(dataset)} ({there})",
            remedy=f"This study's differs in {', '.join(differences(reading, nearest))}. "
            "Match it, or add this one with `bayesdp ledger register`.",
            shown=False,
        )
    return False


def differences(reading: Reading, other: Reading) -> list[str]:
    """The keys of a study in which two readings differ, with both values where they are short."""
    here, there = _by_key(reading), _by_key(other)
    lines = []
    for key in dict.fromkeys([*here, *there]):
        ours, theirs = here.get(key), there.get(key)
        if ours != theirs and _said(ours) != _said(theirs):
            short = max(len(repr(ours)), len(repr(theirs))) <= _SHORT
            lines.append(
                f"{key} ({_said(ours)} here, {_said(theirs)} there)"
                if short
                else f"{key} (other values)"
            )
    return lines


_SHORT = 60


def _said(value: object) -> str:
    """A value as a study has it, or that it has none."""
    return "nothing" if value is None or value == [] else repr(value)


def _by_key(reading: Reading) -> dict[str, object]:
    """The parts of a reading under the names that they have in a study file."""
    by_key = {f"population.{key}": value for key, value in (reading.population or {}).items()}
    of_bdp = {
        "budget.adversary": reading.adversary,
        "budget.secrets": reading.secrets,
        "population.covers": list(reading.covers),
        "the independent columns": list(reading.independent),
        "the bounds of the covered column": list(reading.interval or ()),
    }
    return {
        "budget.notion": reading.notion,
        "budget.epsilon": reading.total,
        "budget.delta": reading.delta,
        "the delta set aside for mechanisms": reading.mechanism_delta,
        **(by_key | of_bdp if reading.notion == "bdp" else {}),
    }


def declared(private: Sequence[str], public: Sequence[str]) -> dict[str, bool]:
    """Whether each column is private. Raises `InputError` for a column declared as both."""
    for name in sorted(set(private) & set(public)):
        raise InputError(
            f"data.columns.{name}",
            "private and public",
            expected="one of them, also of a column that others are derived from",
            remedy="Declare the column itself, and don't derive a public one from a private one.",
        )
    return dict.fromkeys(private, True) | dict.fromkeys(public, False)


def new_columns(dataset: str, account: Account, declared: Mapping[str, bool]) -> Mapping[str, bool]:
    """The columns that no study of this data set has declared before.

    A public column is one that a query may read without noise: a release that does so breaks the
    promise of every other release that protects the column. So `LedgerError` is raised for a column
    that was declared otherwise before.
    """
    for name, private in declared.items():
        if account.columns.get(name, private) is private:
            continue
        now, before = ("private", "public") if private else ("public", "private")
        raise LedgerError(
            f"data.columns.{name}",
            now,
            expected=f"{before}, as a study of {account.whose(dataset)} declared it before",
            remedy="Declare it as before, or leave it out of this study: what one release of a "
            "data set protects, no other may treat as public."
            + (" Another column of this name needs another name." if account.people else ""),
        )
    return {name: private for name, private in declared.items() if name not in account.columns}


def check_columns(dataset: str, account: Account, spends: Sequence[Spend] = ()) -> None:
    """Raises `LedgerError` where a column is private, and public too, for the same people.

    No study can declare that, as `new_columns` refuses it, so it was written by hand. What is then
    released without noise of the one is what the other protects. `spends` come on top of those of
    the `account` of the `dataset`.
    """
    for name, words in column_faults(account, spends):
        raise LedgerError(
            f"data.columns.{name}",
            expected=f"each column of {account.whose(dataset)} either private or public. {words}",
            remedy="No study writes that: `bayesdp ledger trail` says under which name it was "
            "written. Restore the ledger from a copy before it, and count what was released since "
            "the copy as spent.",
            shown=False,
        )


def column_faults(account: Account, spends: Sequence[Spend] = ()) -> Iterator[tuple[str, str]]:
    """Each column that is private and public at once, and in words by what.

    A spend on a block of a column treats it as public: costs of disjoint blocks don't add up,
    as records don't move between them (theory 2.3 a). `spends` come on top of those of the
    `account`.
    """
    for name, (private, public) in account.contradictions.items():
        where = (
            "private, and public too"
            if account.people is None
            else f"private in {_quoted(private)} and public in {_quoted(public)}, "
            "of the same people"
        )
        yield (
            name,
            f"The column '{name}' is {where}: what is released of it without noise is what other "
            "releases protect",
        )
    blocks = {
        (spend.block.column, spend.dataset): spend.query
        for spend in [*account.spends, *spends]
        if spend.block is not None
    }
    for (name, dataset), query in blocks.items():
        if account.columns.get(name, False):
            yield (
                name,
                f"The column '{name}' is private, and the release '{query}' of '{dataset}' is "
                "debited for some of its values alone, as if it were public",
            )


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def check_names(dataset: str, unit: str) -> None:
    """Raises `InputError` unless both are texts that aren't empty."""
    check_text("data.dataset", dataset)
    check_text("data.unit", unit)


def check_unit(dataset: str, ledger_unit: str, unit: str) -> None:
    """Raises `LedgerError` where `unit` is not `kept`, the protected unit of `dataset`."""
    if ledger_unit != unit:
        raise LedgerError(
            "data.unit",
            unit,
            expected=f"'{ledger_unit}', the protected unit under which '{dataset}' is kept",
            remedy="Costs with different protected units don't add up: use another data set name.",
        )


def check_spends(dataset: str, unit: str, spends: Sequence[Spend]) -> None:
    """Refuse `spends` that are not all of `dataset` and its protected `unit`, and an empty list.

    Raises `InputError` for the list and the names, `LedgerError` for costs that don't add up.
    """
    check_names(dataset, unit)
    if not spends:
        raise InputError("spends", [], expected="at least one spend")
    total_cost(spends)
    for name in sorted({spend.dataset for spend in spends} - {dataset}):
        raise LedgerError(
            "spend.dataset",
            name,
            expected=f"'{dataset}', the data set whose budget is debited",
            remedy="Debit each data set with its own spends.",
        )
    check_unit(dataset, unit, spends[0].unit)
