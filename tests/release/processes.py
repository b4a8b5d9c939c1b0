"""Releases in processes of their own, which die where they are told to, or at any moment.

One process imports everything and plans each study once, and forks a child for each job, so that
thirty deaths take seconds. For each line that it reads, a JSON list of jobs, it prints a line: the
JSON list of how they ended.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from functools import cache
from pathlib import Path
from typing import Any

DEAD = 137


def die(*_: object, **__: object) -> None:
    os._exit(DEAD)


def before(owner: object, name: str) -> None:
    setattr(owner, name, die)


def after(owner: object, name: str) -> None:
    real = getattr(owner, name)

    def called(*args: Any, **kwargs: Any) -> Any:
        real(*args, **kwargs)
        die()

    setattr(owner, name, called)


def inside_commit_of(kind: str) -> None:
    """Dies with an entry of this kind inserted, or the text of a result, and nothing committed."""
    from sqlalchemy import event
    from sqlalchemy.engine import Engine

    def inserted(_c: object, _cursor: object, statement: str, values: Any, *_rest: object) -> None:
        text = kind == "result" and statement.startswith("INSERT INTO results")
        if text or (statement.startswith("INSERT INTO entries") and kind in str(values)):
            die()

    event.listen(Engine, "after_cursor_execute", inserted)


def set_trap(point: str) -> None:
    import bayesdp.cli.studies as cli
    import bayesdp.release.drawing.study_drawing as drawing
    import bayesdp.release.drawing.table as study_table
    from bayesdp.accounting.ledger import Ledger
    from bayesdp.mechanisms.laplace import DiscreteLaplace

    def half(path: Path, text: str) -> str:
        path.write_text(text[: len(text) // 2], encoding="utf-8")
        os._exit(DEAD)

    def second_noise() -> None:
        real, calls = DiscreteLaplace.release, []

        def release(self: DiscreteLaplace, values: Any) -> Any:
            if calls:
                die()
            calls.append(1)
            return real(self, values)

        DiscreteLaplace.release = release

    traps = {
        "none": lambda: None,
        "before the sums": lambda: before(study_table, "run"),
        "before registering": lambda: before(Ledger, "ensure"),
        "in registering": lambda: inside_commit_of("reading"),
        "before the debit": lambda: before(Ledger, "debit"),
        "in the debit": lambda: inside_commit_of("release"),
        "after the debit": lambda: after(Ledger, "debit"),
        "before the program": lambda: before(drawing, "run_program"),
        "before noise": lambda: before(DiscreteLaplace, "release"),
        "between noises": second_noise,
        "after noise": lambda: after(DiscreteLaplace, "release"),
        "before the certificate": lambda: before(drawing, "certify"),
        "after the certificate": lambda: after(drawing, "certify"),
        "before storing": lambda: before(Ledger, "store_text"),
        "in storing": lambda: inside_commit_of("result"),
        "after storing": lambda: after(Ledger, "store_text"),
        "before the file": lambda: before(cli, "write"),
        "half of the file": lambda: setattr(cli, "write", half),
        "after the file": lambda: after(cli, "write"),
        "before printing": lambda: before(cli, "print_json"),
        "after printing": lambda: after(cli, "print_json"),
    }
    traps[point]()


def child(job: dict[str, Any]) -> None:
    os.chdir(job["folder"])
    for number, name in ((1, "out"), (2, "err")):
        target = os.open(f"{job['study']}.{name}", os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
        os.dup2(target, number)
    set_trap(job.get("point", "none"))
    from bayesdp.cli import app

    while "start" in job and time.time() < job["start"]:
        time.sleep(0.001)
    try:
        app(["release", job["study"], "--json", *job.get("options", ())])
    except SystemExit as end:
        sys.stdout.flush()
        os._exit(int(end.code or 0))


@cache
def plan(text: str, path: Path) -> None:
    """What every release of a study does before it opens the table, and remembers."""
    from bayesdp.release.certificates.derivation import provable_plan
    from bayesdp.release.study import Study

    provable_plan(Study.load(path).spec)


def run(jobs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those with a common `start` run at once; `kill` is after how many seconds a job is killed."""
    ended: list[dict[str, Any]] = []
    running: list[int] = []
    for job in jobs:
        path = Path(job["folder"], job["study"])
        plan(path.read_text(encoding="utf-8"), path)
    for position, job in enumerate(jobs):
        if "start" in job:
            job["start"] = jobs[0].get("at") or time.time() + 0.3
            jobs[0]["at"] = job["start"]
        began = time.time()
        if (process := os.fork()) == 0:
            child(job)
            os._exit(99)
        if "start" in job:
            running.append(process)
            if position < len(jobs) - 1:
                continue
        else:
            running = [process]
        if "kill" in job:
            time.sleep(job["kill"])
            os.kill(process, signal.SIGKILL)
        for item in running:
            status = os.waitstatus_to_exitcode(os.waitpid(item, 0)[1])
            ended.append({"status": status, "seconds": time.time() - began})
    return ended


if __name__ == "__main__":
    # Everything that a release imports, and no connection or thread yet.
    import duckdb  # noqa: F401
    import flint  # noqa: F401
    import ibis.backends.duckdb  # noqa: F401
    import opendp.measurements  # noqa: F401
    import sqlalchemy.dialects.sqlite  # noqa: F401
    import typer.main

    import bayesdp.cli
    import bayesdp.release
    import bayesdp.report.html
    import bayesdp.tables.cells.reading

    typer.main.get_command = cache(typer.main.get_command)
    typer.main.get_command(bayesdp.cli.app)
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line))), flush=True)
