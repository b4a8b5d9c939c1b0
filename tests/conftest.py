"""What all tests share."""

from __future__ import annotations

import gc
import itertools
import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer.testing
from hypothesis import settings

from bayesdp.leakage import contexts
from bayesdp.tables import source
from bayesdp.theorems import markov_contexts
from tests import postgres_server as postgres_server_
from tests.chance import FALSE_ALARMS, Chance, FalseAlarms

ROOT = Path(__file__).resolve().parent.parent

# The same cases on every run, and no clock: a red test means the code, not the machine.
settings.register_profile("bayesdp", deadline=None, derandomize=True, database=None)
settings.load_profile("bayesdp")


gc.disable()  # while modules are imported and tests collected: all of that is kept


def pytest_collection_finish() -> None:
    """The collector of garbage needn't look again at all the modules and tests that are kept.

    Nor need it look each time that a few hundred objects have been made.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def the_command_line_is_made_once() -> Iterator[None]:
    """Typer makes its commands anew for each call in a test: most of the time that a call takes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.testing, "_get_command", cache(typer.testing._get_command))
        yield


@pytest.fixture(autouse=True)
def what_is_not_privacy_noise_is_seeded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A generator made without a seed gets one: another for each of a test, the same in each run.

    OpenDP's noise can't be seeded: see `chance`.
    """
    seeds, made = itertools.count(), np.random.default_rng
    monkeypatch.setattr(
        np.random, "default_rng", lambda seed=None: made(next(seeds) if seed is None else seed)
    )


@pytest.fixture(autouse=True)
def tables_share_an_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each table has a database of its own, as always; starting the engine is most of the time.

    In `tables/` the engine is started for each table.
    """
    connect = source.connect

    def connection(path: Path | None = None) -> Any:
        import ibis

        if path is not None:
            return connect(path)
        cursor = _engine(connect).cursor()
        name = f"database{next(_DATABASES)}"
        cursor.execute(f"ATTACH ':memory:' AS {name}; USE {name}")
        return ibis.duckdb.from_connection(cursor)

    monkeypatch.setattr(source, "connect", connection)


_DATABASES = itertools.count()


@cache
def _engine(connect: Callable[[], Any]) -> Any:
    return connect().con


@pytest.fixture
def few_contexts() -> Iterator[None]:
    """Levels of chains of higher order from few contexts, which are higher, quick and as sound.

    For tests that ask for many levels, and not how sharp they are. Tests that do ask are kept
    apart: what was computed before and what is computed here is forgotten.
    """
    kept = (markov_contexts._sides, markov_contexts._with_all, markov_contexts._with_few)
    for function in kept:
        function.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contexts, "MOST_CONTEXTS", 40)
        patch.setattr(contexts, "_FEWER", (20,))
        yield
    for function in kept:
        function.cache_clear()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[postgres_server_.Server]:
    """A temporary PostgreSQL for all tests of a process, or a skip with the reason."""
    if reason := postgres_server_.missing():
        pytest.skip(reason)
    with postgres_server_.server() as running:
        yield running


@pytest.fixture
def postgres(
    postgres_server: postgres_server_.Server, monkeypatch: pytest.MonkeyPatch
) -> postgres_server_.Server:
    """The temporary PostgreSQL, whose password is in the environment."""
    monkeypatch.setenv("PGPASSWORD", postgres_server_.PASSWORD)
    return postgres_server


def _declared(item: Any) -> FalseAlarms | None:
    listed = FALSE_ALARMS.get(item.path.relative_to(ROOT / "tests").as_posix(), {})
    return listed.get(item.originalname)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test that can fail by chance is listed, with as often as it runs."""
    by_chance = [item for item in items if "chance" in getattr(item, "fixturenames", ())]
    for item in by_chance:
        declared, name = _declared(item), item.nodeid.split("[")[0]
        runs = sum(other.nodeid.split("[")[0] == name for other in by_chance)
        if declared is None or runs > declared.runs:
            raise pytest.UsageError(f"{name} can fail by chance {runs} times: see tests/chance.py")


@pytest.fixture
def chance(request: pytest.FixtureRequest) -> Chance:
    """The account of a test that can fail by chance."""
    declared = _declared(request.node)
    assert declared is not None
    return Chance(declared.each)


@pytest.fixture(scope="session")
def shared_data() -> Callable[[str], Path]:
    """The folder of a real data set that is too large, or not ours, to ship: `shared_data(name)`.

    It is looked for in BAYESDP_SHARED, else beside the repository; without it the test is skipped.
    """
    shared = Path(os.environ.get("BAYESDP_SHARED", ROOT.parent / "shared"))

    def folder(name: str) -> Path:
        actual = shared / "data" / name
        if not actual.is_dir():
            pytest.skip(f"no data set {name!r}: {shared} has none (set BAYESDP_SHARED)")
        return actual

    return folder
