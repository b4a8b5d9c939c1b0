"""Processes that debit and store as fast as they can, and are killed at any moment.

`python -m tests.accounting.stress URL SECONDS PROCESSES FOLDER` forks so many, kills one at random
again and again, and forks another in its place. Each writes to a file of its own in the folder what
it was given: the id of a debit once it may draw, and that of a result once it may be shown.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from bayesdp.accounting import Ledger, Reading
from bayesdp.errors import BudgetExceededError, LedgerError
from tests.accounting.helpers import ledger, spend

RELEASES = 4
"""So many fit the budget of a data set, before the processes go on to the next one."""


def work(book: Ledger, folder: Path, seed: int) -> None:
    log = os.open(folder / f"{os.getpid()}.log", os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    rng, number = random.Random(seed), seed // 16  # the first ones are used up soon
    while True:
        name = f"d{number}"
        try:
            book.ensure(name, "row", Reading("dp", 1.0))
            asked = [spend(1 / RELEASES, dataset=name)]
            release = book.debit(name, "row", asked, study=str(os.getpid()), request={})
            os.write(log, f"debited {release}\n".encode())
            if rng.random() < 0.9:
                book.store(release, {"value": rng.random()})
                os.write(log, f"stored {release}\n".encode())
        except BudgetExceededError:
            number += 1
        except LedgerError as error:
            os.write(log, f"error {' '.join(str(error).split())}\n".encode())
            time.sleep(0.2)


def fork(book: Ledger, folder: Path, seed: int) -> int:
    child = os.fork()
    if child == 0:
        try:
            work(book, folder, seed)
        finally:
            os._exit(1)
    return child


def main(url: str, seconds: str, processes: str, folder: str) -> None:
    rng, seed = random.Random(7), 0
    book = ledger(url, busy_seconds=60.0)  # what is compiled once is compiled here
    book.ensure("warm", "row", Reading("dp", 1.0))
    asked = [spend(0.5, dataset="warm")]
    book.store(book.debit("warm", "row", asked, study="s", request={}), {"value": 7})
    book.show()
    running: list[int] = []
    while len(running) < int(processes):
        running.append(fork(book, Path(folder), seed := seed + 1))
    print("started", flush=True)
    killed, end = 0, time.monotonic() + float(seconds)
    while time.monotonic() < end:
        time.sleep(rng.random() * 0.4)
        place = rng.randrange(len(running))
        os.kill(running[place], signal.SIGKILL)
        os.waitpid(running[place], 0)
        killed += 1
        running[place] = fork(book, Path(folder), seed := seed + 1)
    for child in running:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    print(json.dumps({"killed": killed}), flush=True)


if __name__ == "__main__":
    import sqlalchemy.dialects.postgresql.psycopg
    import sqlalchemy.dialects.sqlite  # noqa: F401

    main(*sys.argv[1:])
