"""Data sets that share people: what may be read over all of them, and what may join (theory 2.10).

A person has at most one record in each data set, so a cost for one record of a data set is the
same cost for one person, and costs add up whichever data set they are spent on. A level of a
population needs more: the population has to speak of everything that the people have in all of
these data sets. Independent records and clusters can be declared so. A law of the records of one
table says nothing of the records of another one.

### 2.10 Tables that share people (new)

Several tables hold records of the same people: the extracts of two months, or two sources. Let
persons `h = 1..N` have the joint records `r_h = (r_h^1, ..., r_h^T)`, where table `t` has **one**
record `r_h^t` of each person of a public set `H_t`, and nothing else. The *joint database* has the
records `r_1, ..., r_N`. Mechanisms may read any table, and be chosen in view of all earlier
answers.

**Statement.** (i) A cost for replacing one record of a table, pure, in zCDP or with a delta, is the
same cost for replacing one joint record. So costs add up, whichever table they are spent on: all
mechanisms together cost the sum over the tables of what 2.3 (a) and 2.9 say of each one. (ii) Let
the persons form clusters, the same for all tables, such that different clusters are independent
with *all that their members have in all tables*, and each table has at most `m` records of each
cluster. If the sum is `eps`, the level of everything is at most `m eps`, for every class of
adversaries, whatever an adversary knows of other records, single ones or joint ones; for secrets
that are one record of one table, all that a person has in all tables, or all that a cluster has.
For independent persons `m = 1`. A sum of `rho` in zCDP counts as `m^2 rho`.

*Proof.* (i) Replacing `r_h` replaces at most one record of table `t`, the one of `h`, and 2.2 adds
over the mechanisms. Within a table, a record lies in one cell of each public column. (ii) Fix what
all other clusters have. Between any two contents of the cluster of the attacked record that agree
with what is known, table `t` differs in at most `m` records, so the probability of its answers,
given the earlier ones, changes by a factor of at most `e^(m eps_t)`; over all tables multiply.
Given what is known, the law of the other clusters doesn't depend on the secret, as clusters are
independent. Average over the contents of the cluster, under either secret, and then over the
others. In zCDP each table's mechanisms cost `m^2 rho_t` for a change of `m` records (2.5), and
those add up. ∎

**What doesn't hold.**

* *The dearest block of two tables.* Randomized response with `eps` on the north of one month, and
  on the south of the next: a person who moved is in both, and pays `2 eps`. Nor is the dearest of
  two tables enough, whatever their columns.
* *A law of one table, read over both.* In January the bits of two persons are independent, so a
  level there is the DP cost. In February both have the first one's January bit. Randomized response
  with `eps` on the first one's record in January, and with `eps` on both in February, has the sum
  `2 eps` for a person; what it tells of the January bit is `3 eps`. So it is no help that the
  persons are independent in one table: they have to be over all, or in clusters over all. A joint
  law of one table (a chain, a Gaussian law, a table of probabilities) doesn't say what its records
  have to do with those of another one, nor what somebody learns of them who knows others' records
  there. bayesdp refuses to read it over several.
* *Several rows of a person.* With two rows of a person in a table, replacing the person replaces
  two records: a cost for one row is half of what is paid. So a record is a person (or all rows with
  the same person).
* *People who are not said to be the same.* Two tables with budgets of their own promise nothing
  about somebody who is in both.

*Checked:* all adversaries and secrets by brute force, on random joint laws of two persons in two
tables, with mechanisms that are chosen after an answer, against what a ledger says; the
counterexamples in exact fractions ([tests](../tests/oracles/test_people.py)).
"""

from __future__ import annotations

import json
import shlex
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from bayesdp.accounting.accounts.account import (
    Account,
    check_columns,
    check_unit,
    is_registered,
    new_columns,
)
from bayesdp.accounting.accounts.lookalikes import lookalike, require_new_name
from bayesdp.accounting.costs.field_checks import check_text
from bayesdp.accounting.costs.readings import Reading
from bayesdp.accounting.costs.spend import Spend
from bayesdp.accounting.log.contents import Book
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
