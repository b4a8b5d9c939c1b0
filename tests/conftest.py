"""What all tests share."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent

# The same cases on every run, and no clock: a red test means the code, not the machine.
settings.register_profile("bayesdp", deadline=None, derandomize=True, database=None)
settings.load_profile("bayesdp")


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
