"""Processes that debit and store as fast as they can, and are killed at any moment.

`python -m tests.accounting.stress URL SECONDS PROCESSES FOLDER [people|full]` forks so many, kills
any of them again and again, and forks another in its place. Each writes to a file of its own in the
folder what it was given: the id of a debit once it may draw, and that of a result once it may be
shown.

With `people` each budget is that of two data sets, either of which a process debits. Every second
pair is on its own at first, and some process puts the two together while others debit them.

With `full` every other process finds the disk full after it has written a little: the system lets
its files grow to so many bytes only.
"""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import sys
import time
from pathlib import Path

from bayesdp.accounting import Ledger, Reading
from bayesdp.errors import BudgetExceededError, LedgerError
from tests.accounting.helpers import ledger, spend

RELEASES = 4
"""So many fit the budget of a data set, before the processes go on to the next one."""
COST = 1 / RELEASES


def debit_alone(book: Ledger, number: int, rng: random.Random) -> str:
    name = f"d{number}"
    book.ensure(name, "row", Reading("dp", 1.0))
    return paid(book, name, None)


def debit_of_people(book: Ledger, number: int, rng: random.Random) -> str:
    people, names = f"p{number}", [f"{letter}{number}" for letter in "ab"]
    name = rng.choice(names)
    if number % 2:  # together from the start
        book.ensure(name, "row", Reading("dp", 1.0), people=people)
        return paid(book, name, people)
    there = {entry["dataset"]: entry["people"] for entry in book.show()}
    for each in names:
        if each not in there:
            book.register(each, "row", Reading("dp", 1.0))  # registered, as their names look alike
    if there.get(name) is None and rng.random() < 0.3:
        book.share_people(people, rng.sample(names, 2))
        there[name] = people
    return paid(book, name, there.get(name))


def paid(book: Ledger, name: str, people: str | None) -> str:
    asked = [spend(COST, dataset=name, people=people)]
    return book.debit(name, "row", asked, study=str(os.getpid()), request={})


def fill_disk(rng: random.Random, path: Path) -> None:
    """Lets no file of this process grow beyond a few pages more than the ledger has now."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    size = path.stat().st_size + rng.randrange(20_000)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def work(book: Ledger, folder: Path, seed: int, kind: str) -> None:
    debited = debit_of_people if kind == "people" else debit_alone
    log = os.open(folder / f"{os.getpid()}.log", os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    rng, number = random.Random(seed), seed // 16  # the first ones are used up soon
    if kind == "full" and seed % 2 and book.path is not None:
        fill_disk(rng, book.path)
    while True:
        try:
            release = debited(book, number, rng)
            os.write(log, f"debited {release}\n".encode())
            if rng.random() < 0.9:
                book.store(release, {"value": rng.random()})
                os.write(log, f"stored {release}\n".encode())
        except BudgetExceededError:
            number += 1
        except LedgerError as error:
            os.write(log, f"error {' '.join(str(error).split())}\n".encode())
            time.sleep(0.2)


def fork(book: Ledger, folder: Path, seed: int, kind: str) -> int:
    child = os.fork()
    if child == 0:
        try:
            work(book, folder, seed, kind)
        finally:
            os._exit(1)
    return child


def main(url: str, seconds: str, processes: str, folder: str, kind: str = "") -> None:
    rng, seed = random.Random(7), 0
    book = ledger(url, busy_seconds=60.0)  # what is compiled once is compiled here
    book.ensure("warm", "row", Reading("dp", 1.0))
    asked = [spend(0.5, dataset="warm")]
    book.store(book.debit("warm", "row", asked, study="s", request={}), {"value": 7})
    book.show()
    running: list[int] = []
    while len(running) < int(processes):
        running.append(fork(book, Path(folder), seed := seed + 1, kind))
    print("started", flush=True)
    killed, end = 0, time.monotonic() + float(seconds)
    while time.monotonic() < end:
        time.sleep(rng.random() * 0.4)
        place = rng.randrange(len(running))
        os.kill(running[place], signal.SIGKILL)
        os.waitpid(running[place], 0)
        killed += 1
        running[place] = fork(book, Path(folder), seed := seed + 1, kind)
    for child in running:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    print(json.dumps({"killed": killed}), flush=True)


if __name__ == "__main__":
    import sqlalchemy.dialects.postgresql.psycopg
    import sqlalchemy.dialects.sqlite  # noqa: F401

    main(*sys.argv[1:])
