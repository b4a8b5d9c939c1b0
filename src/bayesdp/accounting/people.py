"""Data sets that share people: what may be read over all of them, and what may join (theory 2.10).

A person has at most one record in each data set, so a cost for one record of a data set is the
same cost for one person, and costs add up whichever data set they are spent on. A level of a
population needs more: the population has to speak of everything that the people have in all of
these data sets. Independent records and clusters can be declared so. A law of the records of one
table says nothing of the records of another one.
"""

from __future__ import annotations

import json
import shlex
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from bayesdp.accounting.account import (
    Account,
    check_columns,
    check_unit,
    is_registered,
    new_columns,
)
from bayesdp.accounting.contents import Book
from bayesdp.accounting.field_checks import check_text
from bayesdp.accounting.lookalikes import lookalike, require_new_name
from bayesdp.accounting.readings import Reading
from bayesdp.accounting.spend import Spend
from bayesdp.errors import InputError, LedgerError, UnsupportedError, require_shown
from bayesdp.statements.populations import OF_PEOPLE


def check_model(model: object, key: str) -> None:
    """Raises `UnsupportedError` at `key` for a population that can't be read over several tables.

    `model` is that of the population.
    """
    if model not in OF_PEOPLE:
        raise UnsupportedError(
            key,
            model,
            expected=f"{' or '.join(map(repr, OF_PEOPLE))} beside data.people: another population "
            "is a law of the records of one table, and says nothing of what the same people have "
            "in other ones",
            remedy='Write model = "clusters" with the most people who depend on each other. Or '
            "keep all of these tables as one data set, with one population whose records are all "
            "of theirs, and leave data.people out.",
        )


def check_reading(reading: Reading) -> None:
    """Raises `UnsupportedError` for a reading that can't be one of several data sets."""
    if reading.population is not None:
        check_model(reading.population.get("model"), "population.model")


def check_people_name(people: str) -> None:
    """Raises `InputError` for a name of people that is empty, or has letters that are not shown."""
    check_text("data.people", people)
    require_shown(people, "data.people")
    if people != people.strip() or people != unicodedata.normalize("NFC", people):
        raise InputError(
            "data.people",
            people,
            expected="a name without spaces around it, as other programs write it (NFC)",
            remedy="Two names are two budgets.",
        )


def of_dataset(reading: Reading, dataset: str, people: str | None) -> Reading:
    """The reading as that of this data set, whose columns it names, where it shares `people`."""
    return reading if people is None else replace(reading, dataset=dataset)


def admitted(
    book: Book,
    dataset: str,
    unit: str,
    reading: Reading,
    columns: Mapping[str, bool],
    people: str | None,
    *,
    only_if_first: bool,
) -> tuple[Account, bool, Mapping[str, bool]]:
    """The account of a data set that a study declares, as the ledger (`book`) has it.

    With it, whether the `reading` is registered for the `dataset`, and which of the `columns`
    (private or not) are new. `unit` is the protected unit and `people` are those that the study
    names. With `only_if_first` a reading must be the first one, and new names must not look like
    others that are there. Raises `LedgerError` and `UnsupportedError` for what can't be registered.
    """
    record = book.datasets.get(dataset)
    if record is not None:
        check_named(dataset, record.people, people)
    elif only_if_first:
        require_new_name(dataset, book.names())
    if record is None and only_if_first and people is not None and people not in book.people:
        require_new_people(people, book.people)
    if record is None and only_if_first:
        _require_other_names(dataset, people, book)
    account = book.account(dataset, unit=unit, people=people)
    check_unit(dataset, account.unit, unit)
    check_columns(dataset, account)
    new = new_columns(dataset, account, columns)
    if people is not None:
        check_reading(reading)
    known = is_registered(dataset, account, reading, only_if_first=only_if_first)
    if not known and people is not None:
        check_spoken(account.with_reading(dataset, reading))
    return account, known, new


def check_named(dataset: str, known: str | None, people: str | None) -> None:
    """Raises `LedgerError` unless a study names the people that the ledger has of its data set.

    `dataset` is in the ledger, with the people `known`, and the study names `people`.
    """
    if known == people:
        return
    if known is None:
        assert people is not None
        move = shlex.join(["bayesdp", "ledger", "people", people, dataset])
        raise LedgerError(
            "data.people",
            people,
            expected=f"nothing: the ledger keeps the data set '{dataset}' on its own",
            remedy=f"Leave it out, or let the data set share these people's budget, with all that "
            f"it has spent: `{move}`.",
        )
    raise LedgerError(
        "data.people",
        people,
        expected=f"'{known}', with whose budget the ledger keeps the data set '{dataset}'",
        remedy="Write this name: a data set doesn't leave its people, as what was spent on them "
        "would no longer be counted.",
    )


def require_new_people(people: str, known: Iterable[str]) -> None:
    """`LedgerError` for a name of people that looks like another of the `known` names."""
    other = lookalike(people, known)
    if other is not None:
        raise LedgerError(
            "data.people",
            people,
            expected=f"a name that does not look like '{other}', which is in this ledger",
            remedy="If the same people are meant, use that name: another one has a fresh budget. "
            "If not, 'bayesdp ledger register STUDY' registers other people of this name.",
        )


def _require_other_names(dataset: str, people: str | None, book: Book) -> None:
    """`LedgerError` where a name of people is taken for that of a data set, or one for theirs.

    `dataset` is new in the `book`, with the `people` that its study names. The two would have two
    budgets, where whoever wrote one of them may well mean the other.
    """
    if people is None:
        key, name, other = "data.dataset", dataset, "that of people"
        lookalike = theirs = _alike(dataset, book.people)
    else:
        key, name, other = "data.people", people, "that of a data set"
        lookalike = None if people in book.people else _alike(people, book.datasets)
        theirs = None if lookalike is None else book.datasets[lookalike].people
    if lookalike is None:
        return
    remedy = (
        f"write people = {json.dumps(theirs)} below [data]."
        if theirs is not None
        else "let that data set share their budget: "
        f"`{shlex.join(['bayesdp', 'ledger', 'people', name, lookalike])}`."
    )
    raise LedgerError(
        key,
        name,
        expected=f"a name that does not look like '{lookalike}', which is {other} in this ledger "
        "and has another budget",
        remedy=f"If the same people are meant, {remedy} If not, 'bayesdp ledger register STUDY' "
        "takes this name.",
    )


def _alike(name: str, names: Iterable[str]) -> str | None:
    known = list(names)
    return name if name in known else lookalike(name, known)


def check_spoken(account: Account, spends: Sequence[Spend] = ()) -> None:
    """Raises `LedgerError` where a reading's population says nothing of what was spent elsewhere.

    A reading of one data set counts what is spent on the others of the same people, so each of
    those on which something is spent must have a reading of the same kind, which speaks of the
    columns that its queries read. `spends` come on top of those of the `account`.
    """
    if account.people is None:
        return
    together = [*account.spends, *spends]
    for dataset, readings in account.declared.items():
        for reading in readings:
            if reading.population is not None:
                _check_elsewhere(dataset, reading, account.declared, together)


def _check_elsewhere(
    dataset: str,
    reading: Reading,
    declared: Mapping[str, Sequence[Reading]],
    spends: Sequence[Spend],
) -> None:
    """The same for a `reading` of one `dataset`; `declared` are all readings, by data set."""
    for other in dict.fromkeys(spend.dataset for spend in spends):
        if other == dataset:
            continue
        alike = [
            candidate
            for candidate in declared.get(other, ())
            if candidate.subject_key() == reading.subject_key()
        ]
        spoken = [{*candidate.covers, *candidate.independent} for candidate in alike]
        columns_read = {name for spend in spends if spend.dataset == other for name in spend.reads}
        if not any(columns_read <= names for names in spoken):
            missing = sorted(columns_read - set().union(*spoken))
            about = f" that speaks of {', '.join(missing)}" if missing else ""
            raise LedgerError(
                "population",
                expected=f"for the data set '{other}' too a registered reading{about} with the "
                f"population, the adversary, the secrets and the delta that '{dataset}' of the "
                f"same people has: {reading.words()}",
                remedy=f"A level counts what is spent on all of their data sets. Register one with "
                f"`bayesdp ledger register` and a study of '{other}', before several of these data "
                "sets have spent.",
                shown=False,
            )
