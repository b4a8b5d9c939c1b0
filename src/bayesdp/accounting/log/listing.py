"""A ledger's data sets and releases as plain data, as `Ledger.show` has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from bayesdp.accounting.accounts.account import Account
from bayesdp.accounting.accounts.analysts import by_analyst
from bayesdp.accounting.accounts.limits import Limits
from bayesdp.accounting.costs.spend import total_cost
from bayesdp.accounting.log.contents import DatasetRecord, DebitRecord, decoded, result_of
from bayesdp.accounting.log.schema import Log


def dataset_listed(
    log: Log,
    record: DatasetRecord,
    account: Account,
    limits: Limits,
    refused: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """A data set as `Ledger.show` has it.

    `log` has the texts of results, `record` is what it says of the data set and `account` the same
    as objects; `limits` computes levels, and `refused` are the attempts on the data set.
    """
    releases = [release_listed(log, record, debit) for debit in record.debits]
    cost = total_cost(account.spends)
    return {
        "dataset": record.name,
        "unit": account.unit,
        "people": record.people,
        "counted": account.counted_words(),
        "spent": cost.dp_epsilon,
        "spent_rho": cost.rho,
        "spent_delta": cost.dp_delta,
        "readings": [limits.read(reading, account.spends) for reading in account.readings],
        "releases": releases,
        "refusals": len(refused),
        "analysts": by_analyst(releases, refused),
        "shares": dict(sorted(account.shares.items())),
        "frozen": None if record.frozen is None else asdict(record.frozen),
    }


def release_listed(log: Log, record: DatasetRecord, debit: DebitRecord) -> dict[str, Any]:
    """One release as `Ledger.show` has it.

    `log` has the texts of results, `record` is the data set that the `debit` is of. `sequence` and
    `head` are the number and the hash of the debit's entry. Raises `UndecodedError` for an entry
    that no ledger has written.
    """
    content = debit.said
    release: dict[str, Any] = {
        "id": debit.id,
        "sequence": debit.entry.sequence,
        "head": debit.entry.hash,
        "time": debit.entry.time,
        **decoded(lambda: {name: content[name] for name in ("analyst", "study")}),
        "status": "debited" if debit.result is None else "released",
        "spends": [spend.to_dict() for spend in record.spends(debit)],
    }
    if debit.result is not None:
        release["result"] = decoded(result_of, log.result(debit.result))
    return release


def release_in_full(log: Log, record: DatasetRecord, debit: DebitRecord) -> dict[str, Any]:
    """One release as `Ledger.release` has it: with `dataset`, `unit` and `request` too.

    `stored` is the number of its result's entry, `None` without one. `log`, `record` and `debit` as
    in `release_listed`.
    """
    listed = release_listed(log, record, debit)
    named = {"dataset": record.name, "unit": record.unit}
    stored = None if debit.result is None else debit.result.sequence
    return {**named, **listed, "request": decoded(lambda: debit.said["request"]), "stored": stored}
