"""Whatever kills a release, and however many run at once: no number without its debit."""

from __future__ import annotations

import atexit
import json
import os
import random
import select
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from bayesdp.accounting.costs.composition import level
from bayesdp.accounting.ledger import Ledger
from bayesdp.certificate import Certificate
from bayesdp.verification import verify
from tests.effort import runs
from tests.golden.cases import PEOPLE, PEOPLE_CSV

STUDY = PEOPLE + (
    '\n[[query]]\nname = "smokers"\nkind = "count"\nwhere = "smokes == \'yes\'"\n'
    '\n[[query]]\nname = "heights"\nkind = "histogram"\ncolumn = "height"\n'
    "bins = [120, 150, 180, 220]\n"
)
NOTHING, DEBITED, RELEASED = None, "debited", "released"

POINTS = {
    "before the sums": NOTHING,
    "before registering": NOTHING,
    "in registering": NOTHING,
    "before the debit": NOTHING,
    "in the debit": NOTHING,
    "after the debit": DEBITED,
    "before noise": DEBITED,
    "between noises": DEBITED,
    "after noise": DEBITED,
    "before the certificate": DEBITED,
    "after the certificate": DEBITED,
    "before storing": DEBITED,
    "in storing": DEBITED,
    "after storing": RELEASED,
    "before the file": RELEASED,
    "half of the file": RELEASED,
    "after the file": RELEASED,
    "before printing": RELEASED,
    "after printing": RELEASED,
}
FILES = {"after the file", "before printing", "after printing"}


@cache
def server() -> subprocess.Popen[str]:
    """The process that forks one for each job; it ends with this one, whose end it reads."""
    root = Path(__file__).parents[2]
    search = os.pathsep.join([str(root / "src"), str(root)])
    started = subprocess.Popen(
        [sys.executable, "-m", "tests.release.processes"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=root,
        env={**os.environ, "PYTHONPATH": search},
    )
    atexit.register(started.communicate)
    return started


def run(jobs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    process = server()
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(jobs) + "\n")
    process.stdin.flush()
    ready, _, _ = select.select([process.stdout], [], [], 900)  # a busy machine takes minutes
    if not ready:
        process.kill()
        raise TimeoutError("the jobs hang")
    ended: list[dict[str, Any]] = json.loads(process.stdout.readline())
    return ended


def prepared(folder: Path, study: str = STUDY, names: tuple[str, ...] = ("s.toml",)) -> Path:
    folder.mkdir()
    (folder / "people.csv").write_text(PEOPLE_CSV)
    for name in names:
        (folder / name).write_text(study)
    return folder


def releases(folder: Path) -> list[dict[str, Any]]:
    """What the ledger says, after holding everything that got out against it."""
    if not (folder / "ledger.db").exists():
        datasets = []
    else:
        datasets = Ledger(folder / "ledger.db", level=level).show()
    kept = {item["id"]: item for dataset in datasets for item in dataset["releases"]}
    out = []
    for file in folder.glob("*.certificate.json"):
        try:
            certificate, intact = Certificate.load(file)
        except ValueError:  # half of it: its name still tells which release it is
            assert any(name.startswith(file.name.split("-")[-1][:8]) for name in kept)
            continue
        assert intact
        out.append(certificate)
    for file in folder.glob("*.out"):
        if file.read_text() and "results" in (printed := json.loads(file.read_text())):
            out.append(Certificate.from_dict(printed["certificate"]))
    for certificate in out:
        debit = kept[certificate.body["release"]]
        assert debit["status"] == RELEASED
        assert debit["result"]["results"] == certificate.body["results"]
        spends = [
            step.evidence["spend"]
            for step in certificate.derivation.premises[0].premises[0].premises
        ]
        assert debit["spends"] == spends
        assert verify(certificate).verdict == "VALID ASSUMING"
    if datasets:
        (dataset,) = datasets
        spent = sum(spend["dp_epsilon"] for value in kept.values() for spend in value["spends"])
        assert dataset["spent"] >= spent * (1 - 1e-12)
        (reading,) = dataset["readings"]
        assert reading["level"] <= reading["total"] == 3.0
    return list(kept.values())


def test_death_at_every_point_of_a_release(tmp_path: Path) -> None:
    folders = {point: prepared(tmp_path / point.replace(" ", "-")) for point in POINTS}
    jobs = [
        {"folder": str(folder), "study": "s.toml", "point": point}
        for point, folder in folders.items()
    ]
    # After the death, the same study again: nothing is locked, and what was debited is gone.
    again = [{"folder": job["folder"], "study": "s.toml"} for job in jobs]
    ended = run([*jobs])
    assert [job["status"] for job in ended] == [137] * len(jobs)
    for point, folder in folders.items():
        assert [release["status"] for release in releases(folder)] == [
            s for s in [POINTS[point]] if s is not None
        ], point
        whole = len(list(folder.glob("*.certificate.json")))
        assert whole == (point in FILES or point == "half of the file"), point
        shown = (folder / "s.toml.out").read_text()
        assert bool(shown) == (point == "after printing"), point
    assert [item["status"] for item in run(again)] == [0] * len(jobs)
    for point, folder in folders.items():
        kept = releases(folder)
        assert len(kept) == 1 + (POINTS[point] is not None)
        assert kept[-1]["status"] == RELEASED


def test_a_retry_with_the_same_key_pays_only_for_what_was_not_stored(tmp_path: Path) -> None:
    points = ("before the debit", "after the debit", "after noise", "before storing", "in storing",
              "after storing", "half of the file", "before printing", "after printing")  # fmt: skip
    folders = {point: prepared(tmp_path / point.replace(" ", "-")) for point in points}
    keyed = {"study": "s.toml", "options": ["--key", "june"]}
    jobs = [{"folder": str(folder), "point": point, **keyed} for point, folder in folders.items()]
    assert [job["status"] for job in run(jobs)] == [137] * len(jobs)
    stored = {point: releases(folder) for point, folder in folders.items()}
    retries = [{"folder": str(folder), **keyed} for folder in folders.values()]
    for _ in range(2):  # and once more, which pays in no case
        assert [job["status"] for job in run([dict(job) for job in retries])] == [0] * len(jobs)
        for point, folder in folders.items():
            kept = releases(folder)
            before = stored[point]
            fresh = 0 if POINTS[point] == RELEASED else 1
            assert len(kept) == len(before) + fresh, point
            shown = json.loads((folder / "s.toml.out").read_text())
            assert shown == kept[-1]["result"]
            written = folder / f"s-{kept[-1]['id'][:8]}.certificate.json"
            assert json.loads(written.read_text()) == kept[-1]["result"]["certificate"]


def test_death_at_any_moment(tmp_path: Path) -> None:
    """Kills, spread over the time that a release takes; three of them on each ledger."""
    rng = random.Random(5)
    whole = prepared(tmp_path / "whole")
    (timed,) = run([{"folder": str(whole), "study": "s.toml"}])
    assert timed["status"] == 0
    number = max(runs(300), 10)
    jobs = []
    for i in range(number):
        folder = tmp_path / f"k{i // 3}"
        if not folder.exists():
            prepared(folder)
        share = 0.2 + 0.9 * (i + rng.random()) / number
        jobs.append({"folder": str(folder), "study": "s.toml", "kill": share * timed["seconds"]})
    rng.shuffle(jobs)
    ended = {item["status"] for item in run(jobs)}
    assert ended <= {0, 1, -9}
    assert -9 in ended
    for folder in {job["folder"] for job in jobs}:
        releases(Path(folder))
    fresh = [{"folder": folder, "study": "s.toml"} for folder in {job["folder"] for job in jobs}]
    for job, end in zip(fresh, run(fresh), strict=True):
        folder = Path(job["folder"])
        left = 3 - len(releases(folder)) + (end["status"] == 0)
        assert end["status"] == (0 if left > 0 else 1)


@pytest.mark.parametrize("at_once", [2, 4])
def test_releases_at_once_never_spend_more_than_the_total(tmp_path: Path, at_once: int) -> None:
    """Each takes a share of which so many fit and one more does not."""
    fits = at_once - 1
    share = 3.0 / (fits + 0.5)
    names = tuple(f"s{i}.toml" for i in range(at_once))
    study = STUDY.replace("spend = 1.0", f"spend = {share!r}")
    folder = prepared(tmp_path / "l", study, names)
    for _ in range(runs(10)):
        for old in [*folder.glob("ledger*"), *folder.glob("*.json"), *folder.glob("*.out")]:
            old.unlink()
        ended = run([{"folder": str(folder), "study": name, "start": 0} for name in names])
        assert sorted(job["status"] for job in ended) == [0] * fits + [1]
        kept = releases(folder)
        assert [item["status"] for item in kept] == [RELEASED] * fits
        said = [json.loads((folder / f"{name}.out").read_text()) for name in names]
        (refused,) = [sentence for sentence in said if "error" in sentence]
        assert "Nothing was released and nothing was spent" in refused["error"]
