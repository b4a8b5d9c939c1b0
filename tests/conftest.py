"""What all tests share."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
import typer.testing
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent

# The same cases on every run, and no clock: a red test means the code, not the machine.
settings.register_profile("bayesdp", deadline=None, derandomize=True, database=None)
settings.load_profile("bayesdp")


def pytest_collection_finish() -> None:
    """The collector of garbage needn't look again at all the modules and tests that are kept."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def the_command_line_is_made_once() -> Iterator[None]:
    """Typer makes its commands anew for each call in a test: most of the time that a call takes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.testing, "_get_command", cache(typer.testing._get_command))
        yield


@pytest.fixture(scope="session")
def shared_data() -> Callable[[str], Path]:
    """The folder of a real data set that is too large, or not ours, to ship: `shared_data(name)`.

    It is looked for in BAYESDP_SHARED, else beside the repository; without it the test is skipped.
    """
    shared = Path(os.environ.get("BAYESDP_SHARED", ROOT.parent / "shared"))

    def folder(name: str) -> Path:
        found = shared / "data" / name
        if not found.is_dir():
            pytest.skip(f"no data set {name!r}: {shared} has none (set BAYESDP_SHARED)")
        return found

    return folder
