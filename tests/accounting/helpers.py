"""Simple levels, spends and readings, and the process that the durability tests kill."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from sqlalchemy.engine.default import DefaultDialect

from bayesdp.accounting import Ledger, Reading, Spend, total_cost
from bayesdp.errors import BudgetExceededError

CHAIN = {"model": "markov", "transition": [[0.9, 0.1], [0.3, 0.7]], "length": 3}
DP = Reading("dp", 1.0)
BDP = Reading("bdp", 1.0, CHAIN)


def factor(reading: Reading, spends: Sequence[Spend]) -> float:
    """A fake level: the DP sum, doubled for a population."""
    return total_cost(spends).dp_epsilon * (1 if reading.notion == "dp" else 2)


def spend(dp_epsilon: float = 0.25, **other: object) -> Spend:
    values = {"dataset": "d", "unit": "row", "query": "q", "kind": "any", **other}
    return Spend(dp_epsilon=dp_epsilon, **values)


def ledger(path: Path | str, **other: object) -> Ledger:
    return Ledger(path, **{"level": factor, **other})


def debit(ledger: Ledger, dp_epsilon: float = 0.25) -> str:
    return ledger.debit("d", "row", [spend(dp_epsilon)], study="s.toml", request={"query": "q"})


def _crash_at_commit(number: int, when: str) -> None:
    """Kill this process, without any clean-up, before or after its commit of that number."""
    commit = DefaultDialect.do_commit
    done = 0

    def do_commit(self: DefaultDialect, connection: object) -> None:
        nonlocal done
        done += 1
        if done == number and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        commit(self, connection)
        if done == number and when == "after":
            os.kill(os.getpid(), signal.SIGKILL)

    DefaultDialect.do_commit = do_commit


def main(job: str, path: str, *rest: str) -> None:
    """What a process of the tests does; it prints the id of a release once it may be shown."""
    book = ledger(path)
    if job == "crash":  # a whole release, killed at one of its commits
        _crash_at_commit(int(rest[0]), rest[1])
        release = debit(book)
        print("debited", flush=True)
        book.store(release, {"value": 7})
        print("stored", flush=True)
        return
    if job == "ensure":
        book.ensure("d", "row", DP)
    for _ in range(200):  # as much as there is, and an end even if the budget had none
        try:
            print(debit(book, float(rest[0])), flush=True)
        except BudgetExceededError:
            return


if __name__ == "__main__":
    main(*sys.argv[1:])
