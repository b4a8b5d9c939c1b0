"""Many processes that are killed at random: every debit is kept, and no budget is passed."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bayesdp.accounting import Ledger, Reading
from bayesdp.errors import LedgerError
from tests.accounting.helpers import debit, ledger
from tests.accounting.stress import RELEASES
from tests.effort import runs
from tests.postgres_server import Server

ROOT = Path(__file__).parents[2]
SECONDS, PROCESSES = (60, 32) if runs(20) >= 20 else (10, 6)
"""The long form is 32 processes for a minute."""


def stressed(url: str, folder: Path, *kind: str) -> subprocess.Popen[str]:
    folder.mkdir()
    words = [sys.executable, "-m", "tests.accounting.stress", url, str(SECONDS), str(PROCESSES)]
    search = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    started = subprocess.Popen(
        [*words, str(folder), *kind],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": search},
    )
    assert started.stdout is not None
    assert started.stdout.readline() == "started\n"
    return started


def check(book: Ledger, folder: Path, ended: str) -> dict[str, float]:
    """Everything that a process was given is in the ledger, and nothing is overspent."""
    lines = [line.split(" ", 1) for log in folder.iterdir() for line in log.read_text().split("\n")]
    given: dict[str, list[str]] = {"debited": [], "stored": [], "error": []}
    for kind, *rest in lines:
        if kind:
            given[kind] += rest
    assert book.faults() == []
    shown = book.show()
    kept = {item["id"]: item["status"] for dataset in shown for item in dataset["releases"]}
    assert set(given["debited"]) <= set(kept)  # no debit is lost
    assert len(set(given["debited"])) == len(given["debited"])  # none is given twice
    assert {kept[name] for name in given["stored"]} == {"released"}
    assert not [words for words in given["error"] if "damaged" in words]
    spent: dict[str, list[str]] = {}
    for dataset in shown:
        (reading,) = dataset["readings"]
        assert reading["level"] <= reading["total"] == 1.0
        whose = dataset["people"] or dataset["dataset"]
        spent.setdefault(whose, []).extend(item["id"] for item in dataset["releases"])
    assert max(map(len, spent.values())) == RELEASES  # some budget was used up, and none passed
    assert len(given["stored"]) > 1
    killed = json.loads(ended)["killed"]
    assert killed >= SECONDS
    return {
        "killed": killed,
        "debits": len(kept),
        "entries": book.head().sequence,
        "errors": len(given["error"]),
        "people": len({dataset["people"] for dataset in shown} - {None}),
    }


def check_people(book: Ledger, folder: Path, ended: str) -> None:
    """The same where two data sets have one budget; some pairs were put together meanwhile."""
    print(counted := check(book, folder, ended))
    assert counted["people"] > 0


@pytest.mark.prove
def test_killed_processes_on_a_file(tmp_path: Path) -> None:
    book = ledger(tmp_path / "ledger.db")
    running = stressed(str(tmp_path / "ledger.db"), tmp_path / "logs")
    print(check(book, tmp_path / "logs", running.communicate(timeout=600)[0]))


@pytest.mark.prove
def test_killed_processes_on_a_server(postgres: Server, tmp_path: Path) -> None:
    url = postgres.ledger()
    running = stressed(url, tmp_path / "logs")
    time.sleep(SECONDS / 2)
    postgres.restart()  # as after a power loss, in the middle of it all
    print(check(ledger(url), tmp_path / "logs", running.communicate(timeout=600)[0]))


@pytest.mark.prove
def test_killed_processes_on_data_sets_of_the_same_people(tmp_path: Path) -> None:
    book = ledger(tmp_path / "ledger.db")
    running = stressed(str(tmp_path / "ledger.db"), tmp_path / "logs", "people")
    check_people(book, tmp_path / "logs", running.communicate(timeout=600)[0])


@pytest.mark.prove
def test_killed_processes_on_data_sets_of_the_same_people_on_a_server(
    postgres: Server, tmp_path: Path
) -> None:
    url = postgres.ledger()
    running = stressed(url, tmp_path / "logs", "people")
    time.sleep(SECONDS / 2)
    postgres.restart()
    check_people(ledger(url), tmp_path / "logs", running.communicate(timeout=600)[0])


@pytest.mark.prove
def test_killed_processes_on_a_disk_that_fills_up(tmp_path: Path) -> None:
    book = ledger(tmp_path / "ledger.db")
    running = stressed(str(tmp_path / "ledger.db"), tmp_path / "logs", "full")
    print(check(book, tmp_path / "logs", running.communicate(timeout=600)[0]))
    errors = [log.read_text().count("a disk that takes") for log in (tmp_path / "logs").iterdir()]
    assert sum(errors) > 1


@pytest.mark.prove
def test_killed_processes_whose_connections_are_lost(postgres: Server, tmp_path: Path) -> None:
    url = postgres.ledger()
    running, lost = stressed(url, tmp_path / "logs"), 0
    while running.poll() is None:
        time.sleep(0.3)
        lost += terminate_some_connection(postgres)
    print(check(ledger(url), tmp_path / "logs", running.communicate(timeout=600)[0]), lost)
    assert lost > 1


def terminate_some_connection(server: Server) -> int:
    """Ends a connection of another process, whatever it does: 1 if there was one."""
    with server.connect() as connection:
        ended = connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
            "AND backend_type = 'client backend' ORDER BY random() LIMIT 1"
        ).fetchall()
    return len(ended)


# -- a full disk -----------------------------------------------------------------------------------


@pytest.mark.parametrize("room", [0, 4096, 20_000])
def test_a_disk_that_is_full_refuses_the_debit(tmp_path: Path, room: int) -> None:
    """The system refuses to let files grow further, as a full disk does, in another process."""
    book = ledger(tmp_path / "ledger.db")
    book.register("d", "row", Reading("dp", 1000.0))
    for _ in range(3):
        book.store(debit(book), {"value": 7})
    size = (tmp_path / "ledger.db").stat().st_size
    process = os.fork()
    if process == 0:
        status = 9
        try:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size + room, size + room))
            with (tmp_path / "debits").open("a") as written:
                for _ in range(100):
                    written.write(f"{debit(book)}\n")
                    written.flush()
        except LedgerError as error:
            status = 7 if "a disk that takes what is written" in str(error) else 8
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 7
    written = (tmp_path / "debits").read_text().split()
    assert book.faults() == []
    (shown,) = book.show()
    kept = [release["id"] for release in shown["releases"]]
    assert kept[3:] == written
    assert shown["spent"] == 0.25 * len(kept)
    debit(book)  # and with room again it goes on
